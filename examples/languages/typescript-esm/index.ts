// The first `pulumi up` resets the password, unless you add `initialRotation: false`.
import * as pulumi from "@pulumi/pulumi";
import { getFlowControlKeys, PasswordRotation } from "pulumi-rekey";

const databaseId = new pulumi.Config().require("databaseId");
const rotation = new PasswordRotation("sessions", { databaseId, rotateEvery: "30d" });

export const endpoint: pulumi.Output<string | undefined> = rotation.endpoint;
export const keys: number = (await getFlowControlKeys()).keys.length;
