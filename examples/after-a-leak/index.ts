import * as pulumi from "@pulumi/pulumi";
import {
  CredentialVerification,
  getDatabasesOutput,
  PasswordRotationFleet,
  QueueTokenRotation,
  SearchTokenRotation,
  SigningKeyRotation,
  VectorTokenRotation,
} from "pulumi-rekey";

// The ids of your account, as `pulumi-rekey doctor --coverage` lists them.
const vectorIndexId = "idx-vectors";
const searchIndexId = "idx-search";
const queueUserId = "00000000-0000-4000-8000-000000000001";
// Databases that other stacks rotate. This program would reset them, and the passwords in those stacks would be wrong.
const rotatedElsewhere: readonly string[] = [];

const config = new pulumi.Config();
const when = {
  initialRotation: false, // without this line, the first `pulumi up` resets every secret
  rotatedSince: config.get("leakedAt"),
};

// All other databases of the account.
const databases = new PasswordRotationFleet("databases", {
  databases: getDatabasesOutput().databases.apply((all) =>
    all.map(({ databaseId }) => databaseId).filter((id) => !rotatedElsewhere.includes(id)),
  ),
  ...when,
});
const vectors = new VectorTokenRotation("vectors", { indexId: vectorIndexId, ...when });
const search = new SearchTokenRotation("search", { indexId: searchIndexId, ...when });
const keys = new SigningKeyRotation("keys", { minInterval: config.get("minInterval"), ...when });
// After the signing keys: a roll is sent with this token.
const queue = new QueueTokenRotation("queue", { queueUserId, ...when }, { dependsOn: keys });

// Fails the run if a new password or token is not accepted, or an old one still is.
const proofs = Object.entries({ databases, vectors, search, queue }).map(
  ([name, { access }]) => new CredentialVerification(name, { access }),
);

// Give them to the resources that write your consumers' store, as ../hand-over does.
export const redis = databases.connectionUrls;
export const vectorToken = vectors.token;
export const searchToken = search.token;
export const queueToken = queue.token;
export const signingKeys = { current: keys.currentKey, next: keys.nextKey };
export const verifiedAt = proofs.map((proof) => proof.verifiedAt);
