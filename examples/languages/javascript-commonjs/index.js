// The first `pulumi up` resets the password, unless you add `initialRotation: false`.
const pulumi = require("@pulumi/pulumi");
const { getFlowControlKeysOutput, PasswordRotation } = require("pulumi-rekey");

const databaseId = new pulumi.Config().require("databaseId");
const rotation = new PasswordRotation("sessions", { databaseId, rotateEvery: "30d" });

exports.endpoint = rotation.endpoint;
exports.keys = getFlowControlKeysOutput().apply(({ keys }) => keys.length);
