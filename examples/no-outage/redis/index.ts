// The first `pulumi up` adds a password to the user. The end of the next one retires those that it had before.
import * as pulumi from "@pulumi/pulumi";
import { AclUserRotation, PasswordRotation, Retirement } from "pulumi-rekey";
import { Deployment } from "../deployment";

const config = new pulumi.Config();

// The default user, who may change the others. Clients do not use it, so its reset would not be an outage.
const cache = new PasswordRotation("cache", {
  databaseId: config.require("databaseId"),
  initialRotation: false, // without this line, the first `pulumi up` resets the password
});

const app = new AclUserRotation("app", {
  admin: cache.access,
  userName: "app",
  version: config.get("version"),
  rotateEvery: "30d",
});

// It is replaced while a former password is valid. Pulumi deletes what was replaced at the end of an `up`, and not if
// anything has failed: that delete retires the former password.
const handed = new Retirement("app", { access: app.access, credential: app.connectionUrl });

new Deployment("consumers", { file: config.require("file"), secret: handed.credential });

export const rotatedAt = app.rotatedAt;
