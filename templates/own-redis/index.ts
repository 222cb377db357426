// The first `pulumi up` resets the password of the user, without an outage: the end of the next one retires those that
// it had before.
import * as pulumi from "@pulumi/pulumi";
import { AclUserRotation, Retirement } from "pulumi-rekey";
import { Deployment } from "./deployment";

const config = new pulumi.Config();

// It may change users. Your application does not use it.
const admin = {
  host: config.require("host"),
  port: config.requireNumber("port"),
  tls: config.requireBoolean("tls"),
  username: config.require("adminName"),
  password: config.requireSecret("adminPassword"),
};

const app = new AclUserRotation("app", {
  admin,
  userName: config.require("userName"),
  version: config.get("version"),
  rotateEvery: "30d",
});

// It is replaced while a former password is valid. Pulumi deletes what was replaced at the end of an `up`, and not if
// anything has failed: that delete retires the former password.
const handed = new Retirement("app", { access: app.access, credential: app.connectionUrl });

new Deployment("app", { file: config.require("file"), secret: handed.credential });

export const rotatedAt = app.rotatedAt;
