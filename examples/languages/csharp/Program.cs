using System.Collections.Generic;
using Pulumi;
using Rekey = PulumiRekey.Rekey;

return await Deployment.RunAsync(() =>
{
    // The account that the stack's configuration or the environment names.
    var sessions = new Rekey.PasswordRotation("sessions", new()
    {
        DatabaseId = "96ad0856-03b1-4ee7-9666-e81abd0349e1",
        InitialRotation = false, // without this line, the first `pulumi up` resets the password
        Version = "1",
    });
    var verification = new Rekey.CredentialVerification("sessions", new() { Access = sessions.Access });
    var orders = new Rekey.FlowControlReset("orders", new() { FlowControlKey = "orders", Version = "1" });
    var emails = Rekey.GetFlowControlKey.Invoke(new() { FlowControlKey = "emails" });

    // Another account, with its own credentials.
    var config = new Config();
    var second = new Rekey.Provider("second", new()
    {
        Platform = "upstash",
        BaseUrl = config.Require("secondUrl"), // only to try it on the local platform
        Username = config.Require("secondUsername"),
        Password = config.RequireSecret("secondPassword"),
    });
    var secondSessions = new Rekey.PasswordRotation(
        "secondSessions",
        new() { DatabaseId = "6f3b1c1e-0d7a-4c52-9f0e-2b1f5a8c7d90", InitialRotation = false, Version = "1" },
        new CustomResourceOptions { Provider = second });

    return new Dictionary<string, object?>
    {
        ["password"] = sessions.Password,
        ["secondPassword"] = secondSessions.Password,
        ["verifiedAt"] = verification.VerifiedAt,
        ["resetAt"] = orders.ResetAt,
        ["waiting"] = emails.Apply(key => key.WaitListSize),
    };
});
