import { createHash } from "node:crypto";
import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { PasswordRotation } from "pulumi-rekey";

const config = new pulumi.Config();
const rotation = new PasswordRotation("sessions", {
  databaseId: config.require("databaseId"),
  initialRotation: false, // without this line, the first `pulumi up` resets the password
  rotateEvery: "30d",
});

// Fails with the reason, so that no consumer gets an empty address.
const url = pulumi.all([rotation.connectionUrl, rotation.outcome]).apply(([known, outcome]) => {
  if (known !== undefined) return known;
  throw new pulumi.RunError(
    outcome === "adopted"
      ? "The database was adopted, and its password is not known before its first reset. Add the consumers after it, or set a version now."
      : "The password was reset, but the platform neither sent nor showed the new one. Look for it in the console of the platform.",
  );
});

// Otherwise changed data replaces the Secret, and one with a fixed name is deleted first.
const provider = new kubernetes.Provider("cluster", { enableSecretMutable: true });

const secret = new kubernetes.core.v1.Secret(
  "sessions",
  { metadata: { name: "sessions-database" }, stringData: { url } },
  { provider },
);

// The pods read the address when they start. The checksum is part of their template: another one restarts them.
const checksum = url.apply((known) => createHash("sha256").update(known).digest("hex"));
const labels = { app: "shop" };
new kubernetes.apps.v1.Deployment(
  "shop",
  {
    metadata: { name: "shop" },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, annotations: { "checksum/sessions-database": checksum } },
        spec: {
          containers: [
            {
              name: "shop",
              image: config.require("image"),
              env: [
                {
                  name: "SESSIONS_DATABASE_URL",
                  valueFrom: { secretKeyRef: { name: secret.metadata.name, key: "url" } },
                },
              ],
            },
          ],
        },
      },
    },
  },
  // The checksum is known before the Secret has been updated.
  { provider, dependsOn: secret },
);

export const secretName = secret.metadata.name;
