import * as pulumi from "@pulumi/pulumi";
import { QueueTokenRotation, Retirement } from "pulumi-rekey";
import { Deployment } from "../deployment";

const config = new pulumi.Config();

const queue = new QueueTokenRotation("queue", {
  queueUserId: config.require("queueUserId"),
  initialRotation: false, // the first `pulumi up` hands over the current token
  version: config.get("version"),
  rotateEvery: "30d",
});

// It is replaced while a former token is valid. Pulumi deletes what was replaced at the end of an `up`, and not if
// anything has failed: that delete retires the former token.
const handed = new Retirement("queue", { access: queue.access, credential: queue.token });

new Deployment("consumers", { file: config.require("file"), secret: handed.credential });

export const rotatedAt = queue.rotatedAt;
