using System.Collections.Generic;
using Pulumi;
using Rekey = Pulumi.Rekey;

return await Deployment.RunAsync(() =>
{
    // The account that the stack's configuration or the environment names.
    var sessions = new Rekey.PasswordRotation("sessions", new() { DatabaseId = "db-sessions", Version = "1" });
    var verification = new Rekey.PasswordVerification("sessions", new() { Rotation = sessions });
    var orders = new Rekey.FlowControlReset("orders", new() { FlowControlKey = "orders", Version = "1" });
    var emails = Rekey.GetFlowControlKey.Invoke(new() { FlowControlKey = "emails" });

    // Another account, with its own credentials.
    var config = new Config();
    var second = new Rekey.Provider("second", new()
    {
        BaseUrl = config.Require("secondUrl"),
        Username = config.Require("secondUsername"),
        Password = config.RequireSecret("secondPassword"),
    });
    var secondSessions = new Rekey.PasswordRotation(
        "secondSessions",
        new() { DatabaseId = "db-sessions", Version = "1" },
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
