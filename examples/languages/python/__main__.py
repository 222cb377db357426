import pulumi
import pulumi_rekey as rekey

# The account that the stack's configuration or the environment names.
sessions = rekey.PasswordRotation("sessions", database_id="db-sessions", version=1)
verification = rekey.PasswordVerification("sessions", rotation=sessions)
orders = rekey.FlowControlReset("orders", flow_control_key="orders", version=1)
emails = rekey.get_flow_control_key_output(flow_control_key="emails")

# Another account, with its own credentials.
config = pulumi.Config()
second = rekey.Provider(
    "second",
    base_url=config.require("secondUrl"),
    username=config.require("secondUsername"),
    password=config.require_secret("secondPassword"),
)
second_sessions = rekey.PasswordRotation(
    "secondSessions",
    database_id="db-sessions",
    version=1,
    opts=pulumi.ResourceOptions(provider=second),
)

pulumi.export("password", sessions.password)
pulumi.export("secondPassword", second_sessions.password)
pulumi.export("verifiedAt", verification.verified_at)
pulumi.export("resetAt", orders.reset_at)
pulumi.export("waiting", emails.wait_list_size)
