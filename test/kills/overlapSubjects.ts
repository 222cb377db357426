import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import type * as pulumi from "@pulumi/pulumi";
import { type Platform } from "../../local/platform/index";
import { type Rekey } from "../e2e/engineStack";
import { type Adapter } from "../support/host";
import { acceptsPassword, type RedisServer } from "../support/redis";
import { RedisGate } from "../support/redisGate";
import { acceptsToken } from "../support/resources";
import { type KillGate, type Point } from "./gate";

/** A kill at a point of a command or request in an `up` with a new version. */
export interface OverlapKill {
  readonly when: string;
  readonly matching: RegExp;
  readonly point: Point;
  /** Whether a Retirement retires the former one. Otherwise the next rotation, for a date, does it first. */
  readonly retires: boolean;
  /** Whether the former one is valid after the kill. */
  readonly isFormerValid: boolean;
  /** Whether the new one is in the state then. */
  readonly isSaved: boolean;
  /** Whether something was made valid that is in no state. */
  readonly isUnsaved?: true;
}

/** What asks for a rotation. */
export interface Trigger {
  readonly version: number;
  readonly rotatedSince?: string;
}

/** A secret of which two may be valid, in a program that is killed. */
export interface OverlapSubject {
  readonly title: string;
  readonly adapter: Adapter;
  readonly kills: readonly OverlapKill[];
  /** Declares its rotation, with the name `secret`. */
  declare(rekey: Rekey, trigger: Trigger): Readonly<Record<"secret" | "access", pulumi.Output<string>>>;
  /** Whether the server accepts it. */
  accepts(secret: string): Promise<boolean>;
  /** How many are valid. */
  count(): Promise<number>;
}

/** The kills of the rotations of a secret, by what is sent to add, prove and retire one. */
function killsOf(add: RegExp, proof: RegExp, retire: RegExp): readonly OverlapKill[] {
  const inRun = { retires: true, isFormerValid: true, isSaved: false };
  const unsaved = { ...inRun, isUnsaved: true } as const;
  const inDelete = { ...inRun, isSaved: true };
  const inRotation = { ...inRun, retires: false };
  const isRetired = { isFormerValid: false };
  const rows: readonly (readonly [when: string, RegExp, Point, Omit<OverlapKill, "when" | "matching" | "point">])[] = [
    ["before the addition", add, "arrived", inRun],
    ["after the addition", add, "applied", unsaved],
    ["before the proof", proof, "arrived", unsaved],
    ["after the proof, before it is saved", proof, "applied", unsaved],
    ["before the retirement in the delete", retire, "arrived", inDelete],
    ["after the retirement in the delete", retire, "applied", { ...inDelete, ...isRetired }],
    ["before the retirement in the rotation", retire, "arrived", inRotation],
    ["after the retirement in the rotation", retire, "applied", { ...inRotation, ...isRetired }],
    ["after the retirement, before the addition", add, "arrived", { ...inRotation, ...isRetired }],
  ];
  return rows.map(([when, matching, point, expected]) => ({ when, matching, point, ...expected }));
}

const known = (secret: pulumi.Output<string | undefined>) => secret.apply((value) => value ?? assert.fail());
const queueUserId = "00000000-0000-4000-8000-000000000001";

export const queueKills = killsOf(
  /^POST \/v2\/qstash\/next-token\//,
  /^GET \/v2\/globalParallelism/,
  /^POST \/v2\/qstash\/roll-token\//,
);

/** The token of a user of the queue of the local platform. */
export function queueSubject(platformOf: () => Platform): Omit<OverlapSubject, "kills"> {
  return {
    title: "a queue token",
    adapter: "dynamic",
    declare: ({ QueueTokenRotation }, trigger) => {
      const { token, access } = new QueueTokenRotation("secret", { queueUserId, ...trigger });
      return { secret: known(token), access };
    },
    accepts: (token) => acceptsToken(platformOf(), token),
    count: async () => assert.fail("the platform does not list tokens"),
  };
}

const userName = "app";
export const userKills = killsOf(/^ACL SETUSER app #/, /^AUTH app /, /^ACL SETUSER app !/);

/** Commands are matched with their arguments: `ACL GETUSER app`. */
function killGateOf(gate: RedisGate): KillGate {
  return {
    begin: (strike) => {
      let count = 0;
      gate.meet = async (command, point) => {
        if (!strike?.matching.test(command)) return undefined;
        if (point === "arrived") count++;
        const goesOn = count !== strike.at || point !== strike.point || (await strike.act());
        return goesOn ? undefined : "close";
      };
    },
    settled: async () => {
      while (gate.underWay > 0 || gate.open > 0) await wait(5);
    },
    close: () => gate.close(),
  };
}

/** A user of a real Redis with one password. */
export async function userSubject(redis: RedisServer): Promise<Omit<OverlapSubject, "kills"> & { gate: KillGate }> {
  await redis.acl("DELUSER", userName);
  await redis.acl("SETUSER", userName, "on", ">first", "+@all");
  const gate = await RedisGate.start(redis.port);
  const admin = { host: "127.0.0.1", port: gate.port, tls: false, password: "admin" };
  return {
    title: "a user",
    adapter: "plugin",
    gate: killGateOf(gate),
    declare: ({ AclUserRotation }, trigger) => {
      const { password, access } = new AclUserRotation("secret", { admin, userName, ...trigger });
      return { secret: known(password), access };
    },
    accepts: (password) => acceptsPassword({ endpoint: "127.0.0.1", port: redis.port }, userName, password),
    count: async () => {
      const reply = (await redis.acl("GETUSER", userName)) as unknown[];
      return (reply[reply.indexOf("passwords") + 1] as unknown[]).length;
    },
  };
}
