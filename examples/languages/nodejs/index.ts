import * as pulumi from "@pulumi/pulumi";
import * as rekey from "@pulumi/rekey";

// The account that the stack's configuration or the environment names.
const sessions = new rekey.PasswordRotation("sessions", { databaseId: "db-sessions", version: 1 });
const verification = new rekey.PasswordVerification("sessions", { rotation: sessions });
const orders = new rekey.FlowControlReset("orders", { flowControlKey: "orders", version: 1 });
const emails = rekey.getFlowControlKeyOutput({ flowControlKey: "emails" });

// Another account, with its own credentials.
const config = new pulumi.Config();
const second = new rekey.Provider("second", {
  baseUrl: config.require("secondUrl"),
  username: config.require("secondUsername"),
  password: config.requireSecret("secondPassword"),
});
const secondSessions = new rekey.PasswordRotation(
  "secondSessions",
  { databaseId: "db-sessions", version: 1 },
  { provider: second },
);

export const password = sessions.password;
export const secondPassword = secondSessions.password;
export const verifiedAt = verification.verifiedAt;
export const resetAt = orders.resetAt;
export const waiting = emails.waitListSize;
