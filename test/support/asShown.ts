import { checkFailures, type Notice, type Resource, type Result } from "../../provider/resource";
import { type Properties } from "../../provider/records/properties";
import { FakeRun } from "./fakeRun";
import { type Run } from "../../provider/run";

interface Texts {
  readonly notice?: string;
  readonly warning?: string;
  readonly message?: string;
}

/** A result with the texts of its notices, in lines, and the message of its failure. */
function shown<R extends Partial<Pick<Result<object>, "failure">> & { readonly notices: readonly Notice[] }>(
  result: R,
): Omit<R, "notices" | "failure"> & Texts & Pick<R, "failure"> {
  const { notices, failure, ...rest } = result;
  const textOf = (isWarning: boolean) =>
    notices.flatMap((one) => ((one.isWarning ?? false) === isWarning ? [one.text] : [])).join("\n");
  const [notice, warning] = [textOf(false), textOf(true)];
  return {
    ...rest,
    ...(failure && { failure, message: failure.message }),
    ...(notice !== "" && { notice }),
    ...(warning !== "" && { warning }),
  };
}

/** The functions of a resource, whose results have the texts of their notices. */
export function asShown<I extends object, O extends object>(resource: Resource<I, O>) {
  return {
    check: (inputs: I, unknown: ReadonlySet<string>, run = new FakeRun().start()) =>
      checkFailures(resource, inputs as Properties, unknown, run),
    diff: (saved: O, inputs: I, run = new FakeRun().start()) => shown(resource.diff(saved, inputs, run)),
    noticeOfUnknown: (saved: O, inputs: I, unknown: ReadonlySet<string>, run: Run) =>
      shown({ notices: resource.noticesOfUnknown?.(saved, inputs, unknown, run) ?? [] }).notice,
    apply: async (saved: O | undefined, inputs: I, run: Run) => shown(await resource.apply(saved, inputs, run)),
    refresh: async (saved: O, run: Run) => {
      if (!resource.refresh) throw new Error("it has no refresh");
      return shown(await resource.refresh(saved, run));
    },
    remove: async (saved: O, run: Run) => shown({ notices: (await resource.remove?.(saved, run)) ?? [] }).notice,
  };
}
