import type { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { Alias } from "@pulumi/pulumi/proto/alias_pb";
import { CheckFailure, DiffResponse } from "@pulumi/pulumi/proto/provider_pb";
import { fromStruct, toStruct } from "./wire";

type Json = Readonly<Record<string, unknown>>;
/** A generated message: each field has accessors such as `getNews`, `getDiffsList` or `getProvidersMap`. */
type Message = Record<string, (value?: unknown) => unknown>;
type Type<M> = new () => M;

/** Types of the messages in a field; others have the name of the field, in their parent. */
const types: Readonly<Record<string, unknown>> = { aliases: Alias, failures: CheckFailure };
const structs = ["args", "inputs", "news", "object", "oldInputs", "olds", "outputs", "properties", "return", "state"];

/** A message from JSON as the engine logs it. Fields that the installed SDK does not know are left out, as by gRPC. */
export function toMessage<M>(type: Type<M>, json: object): M {
  const message = new type();
  for (const [name, value] of Object.entries(json as Json)) {
    const inner = (one: unknown): unknown => {
      if (structs.includes(name) && typeof one === "object") return toStruct(one as Json);
      const own = name.endsWith("Dependencies") ? "PropertyDependencies" : name[0]?.toUpperCase() + name.slice(1);
      const of = types[name] ?? (type as unknown as Json)[own];
      return typeof of === "function" ? toMessage(of as Type<unknown>, one as object) : one;
    };
    const accessors = accessorsOf(message).filter(({ field }) => field === name.toLowerCase());
    for (const { accessor, kind } of accessors) {
      const call = (given?: unknown) => (message as Message)[accessor]?.(given);
      if (name === "changes" && kind === "set") call(DiffResponse.DiffChanges[value as "DIFF_NONE"]);
      else if (kind === "set") call(Array.isArray(value) ? value.map(inner) : inner(value));
      else if (accessor.endsWith("Map")) {
        for (const [key, one] of Object.entries(value as Json)) (call() as Map<string, unknown>).set(key, inner(one));
      }
    }
  }
  return message;
}

/** The fields of a message that are set, in lower case. */
export function fromMessage(message: unknown): unknown {
  if (Array.isArray(message)) return message.map(fromMessage);
  if (typeof message !== "object" || message === null) return message;
  if ("toJavaScript" in message) return fromStruct(message as Struct);
  const entries =
    "getEntryList" in message
      ? [...(message as unknown as Map<string, unknown>).entries()]
      : accessorsOf(message).flatMap(({ accessor, field, kind }) =>
          kind === "get" ? [[field, (message as Message)[accessor]?.()] as const] : [],
        );
  const read = entries.map(([name, value]) => [name, fromMessage(value)] as const);
  return Object.fromEntries(read.filter(([, value]) => !isDefault(value)));
}

function accessorsOf(message: unknown): { accessor: string; kind: string; field: string }[] {
  return Object.getOwnPropertyNames(Object.getPrototypeOf(message)).flatMap((accessor) => {
    const [, kind = "", field = ""] = /^(get|set)([A-Z].*?)(?:List|Map)?$/.exec(accessor) ?? [];
    return field === "" ? [] : [{ accessor, kind, field: field.toLowerCase() }];
  });
}

/** Whether gRPC sends nothing for it. */
function isDefault(value: unknown): boolean {
  return (
    value === undefined || value === "" || value === 0 || value === false || (Array.isArray(value) && !value.length)
  );
}
