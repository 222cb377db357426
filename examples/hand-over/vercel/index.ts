import * as pulumi from "@pulumi/pulumi";
import * as vercel from "@pulumiverse/vercel";
import {
  CredentialVerification,
  PasswordRotation,
  QueueTokenRotation,
  Retirement,
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

// The queue accepts its former token until the end of the `up` that deploys the new one, which retires it.
const handed = new Retirement("queue", { access: queue.access, credential: queue.token });

const values: Record<string, pulumi.Output<string | undefined>> = {
  UPSTASH_REDIS_REST_URL: database.restUrl,
  UPSTASH_REDIS_REST_TOKEN: database.restToken,
  UPSTASH_VECTOR_REST_URL: vectors.restUrl,
  UPSTASH_VECTOR_REST_TOKEN: vectors.token,
  UPSTASH_SEARCH_REST_URL: search.restUrl,
  UPSTASH_SEARCH_REST_TOKEN: search.token,
  QSTASH_TOKEN: handed.credential,
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
  // With `handed`: a deployment that is replaced is then deleted before the former token is retired.
  { dependsOn: [handed, ...variables] },
);

export const url = deployment.url;
