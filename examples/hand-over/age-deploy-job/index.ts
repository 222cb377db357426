// Resets nothing at its first `up`, and then the password of one database every 30 days and for each new `version`.
import * as pulumi from "@pulumi/pulumi";
import { PasswordRotation } from "pulumi-rekey";

const config = new pulumi.Config();
const rotation = new PasswordRotation("sessions", {
  databaseId: config.require("databaseId"),
  initialRotation: false, // without this line, the first `pulumi up` resets the password
  version: config.get("version"),
  rotateEvery: "30d",
  saveCredentials: false,
  encryptFor: [config.require("recipient")], // `age-keygen -y` prints it: age1…
});

// Not a secret: only the deploy job can decrypt it. Undefined as long as the platform does not show the password.
export const credentials = rotation.encryptedCredentials;
