import * as pulumi from "@pulumi/pulumi";
import * as vercel from "@pulumiverse/vercel";
import {
  CredentialVerification,
  PasswordRotation,
  QueueTokenRotation,
  SearchTokenRotation,
  SigningKeyRotation,
  VectorTokenRotation,
} from "pulumi-rekey";

const config = new pulumi.Config();
const projectId = config.require("projectId");

const when = {
  initialRotation: false, // without this line, the first `pulumi up` resets every secret
  rotateEvery: "30d",
};
const database = new PasswordRotation("database", { databaseId: config.require("databaseId"), ...when });
const vectors = new VectorTokenRotation("vectors", { indexId: config.require("vectorIndexId"), ...when });
const search = new SearchTokenRotation("search", { indexId: config.require("searchIndexId"), ...when });
const queue = new QueueTokenRotation("queue", { queueUserId: config.require("queueUserId"), ...when });
const keys = new SigningKeyRotation("keys", when);
const proofs = Object.entries({ database, vectors, search, queue }).map(
  ([name, { access }]) => new CredentialVerification(name, { access }),
);

const values = {
  UPSTASH_REDIS_REST_URL: database.restUrl,
  UPSTASH_REDIS_REST_TOKEN: database.restToken,
  UPSTASH_VECTOR_REST_URL: vectors.restUrl,
  UPSTASH_VECTOR_REST_TOKEN: vectors.token,
  UPSTASH_SEARCH_REST_URL: search.restUrl,
  UPSTASH_SEARCH_REST_TOKEN: search.token,
  QSTASH_TOKEN: queue.token,
  QSTASH_CURRENT_SIGNING_KEY: keys.currentKey,
  QSTASH_NEXT_SIGNING_KEY: keys.nextKey,
};

const variables = Object.entries(values).map(([key, value]) => {
  // Fails with the reason, so that no variable becomes empty.
  const known = value.apply((one) => {
    if (one !== undefined) return one;
    throw new pulumi.RunError(`The value of ${key} is not known: the platform neither sent nor showed it.`);
  });
  const environment = { targets: ["production", "preview"], sensitive: true };
  // Written only after the new credentials have been accepted.
  return new vercel.ProjectEnvironmentVariable(
    key,
    { projectId, key, value: known, ...environment },
    { dependsOn: proofs },
  );
});

// A deployment keeps the values that it was made with. Another `meta` makes a new one.
const rotatedAt = pulumi
  .all([database, vectors, search, queue, keys].map((rotation) => rotation.rotatedAt))
  .apply((times) => times.map((time) => time ?? "never").join(" "));
const deployment = new vercel.Deployment(
  "production",
  { projectId, ref: config.require("branch"), production: true, meta: { rotatedAt } },
  { dependsOn: variables },
);

// The queue accepts its former token until it is retired, which happens once the new deployment is ready.
new CredentialVerification("queue-retirement", { access: queue.access, retireFormerAfter: [deployment.urn] });

export const url = deployment.url;
