import * as pulumi from "@pulumi/pulumi";
import * as rekey from "@pulumi/rekey";

// The account that the stack's configuration or the environment names.
const sessions = new rekey.PasswordRotation("sessions", {
  databaseId: "96ad0856-03b1-4ee7-9666-e81abd0349e1",
  initialRotation: false, // without this line, the first `pulumi up` resets the password
  version: 1,
});
const verification = new rekey.CredentialVerification("sessions", { access: sessions.access });
const orders = new rekey.FlowControlReset("orders", { flowControlKey: "orders", version: 1 });
const emails = rekey.getFlowControlKeyOutput({ flowControlKey: "emails" });

// Another account, with its own credentials.
const config = new pulumi.Config();
const second = new rekey.Provider("second", {
  platform: "upstash",
  baseUrl: config.require("secondUrl"), // only to try it on the local platform
  username: config.require("secondUsername"),
  password: config.requireSecret("secondPassword"),
});
const secondSessions = new rekey.PasswordRotation(
  "secondSessions",
  { databaseId: "6f3b1c1e-0d7a-4c52-9f0e-2b1f5a8c7d90", initialRotation: false, version: 1 },
  { provider: second },
);

export const password = sessions.password;
export const secondPassword = secondSessions.password;
export const verifiedAt = verification.verifiedAt;
export const resetAt = orders.resetAt;
export const waiting = emails.waitListSize;
