import { type SecretKind } from "../../domain/secretKind";
import { type Run } from "../../run/run";
import { type Context } from "./plan";

/** The facts of a run on which plans and reads depend. */
export function contextOf(kind: SecretKind, { options }: Run): Context {
  const { settings } = options;
  const { ownSetting } = kind;
  const mayBeOwn = ownSetting && settings.find("queueUserId") === undefined;
  return {
    kind,
    now: options.clock.now(),
    canRead: kind.readsShowHashes === true || settings.canRead(kind),
    isScheduleOn: settings.get("scheduledResets") === "on",
    ownToken: mayBeOwn ? settings.find(ownSetting)?.value : undefined,
    account: kind.next ? options.queueAccount() : undefined,
  };
}
