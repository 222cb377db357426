import pulumi
import pulumi_rekey as rekey

# The account that the stack's configuration or the environment names.
sessions = rekey.PasswordRotation(
    "sessions",
    database_id="96ad0856-03b1-4ee7-9666-e81abd0349e1",
    initial_rotation=False,  # without this line, the first `pulumi up` resets the password
    version=1,
)
verification = rekey.CredentialVerification("sessions", access=sessions.access)
orders = rekey.FlowControlReset("orders", flow_control_key="orders", version=1)
emails = rekey.get_flow_control_key_output(flow_control_key="emails")

# Another account, with its own credentials.
config = pulumi.Config()
second = rekey.Provider(
    "second",
    platform="upstash",
    base_url=config.require("secondUrl"),  # only to try it on the local platform
    username=config.require("secondUsername"),
    password=config.require_secret("secondPassword"),
)
second_sessions = rekey.PasswordRotation(
    "secondSessions",
    database_id="6f3b1c1e-0d7a-4c52-9f0e-2b1f5a8c7d90",
    initial_rotation=False,
    version=1,
    opts=pulumi.ResourceOptions(provider=second),
)

pulumi.export("password", sessions.password)
pulumi.export("secondPassword", second_sessions.password)
pulumi.export("verifiedAt", verification.verified_at)
pulumi.export("resetAt", orders.reset_at)
pulumi.export("waiting", emails.wait_list_size)
