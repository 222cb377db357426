import * as pulumi from "@pulumi/pulumi";
import { functions } from "../provider/engine/resources";
import { type SharedReads } from "../provider/flowControl/sharedReads";
import { InputError } from "../provider/platform/errors";
import { type Properties } from "../provider/records/properties";
import { type NamesOf, refuseUnknown } from "../provider/rotation/arguments";
import { FlowControlReset } from "./flowControlReset";
import { platformOfRun } from "./platform";
import { checked, endingError, isLate, perRun } from "./program";
import { childrenOf, initializationOf, isMocked } from "./pulumiInternals";

/** Options of a data source's Output form. */
export interface DataSourceOptions {
  /**
   * Resources that must be done before the platform is read, for example a FlowControlReset. A component includes its
   * children.
   *
   * @default none
   */
  dependsOn?: pulumi.Input<pulumi.Input<pulumi.Resource>[]> | pulumi.Input<pulumi.Resource> | undefined;
}

const optionNames: NamesOf<DataSourceOptions> = { dependsOn: true };

/** Loaded on first use. */
const queueOfRun = perRun((): SharedReads => {
  const { SharedReads } =
    require("../provider/flowControl/sharedReads") as typeof import("../provider/flowControl/sharedReads");
  return new SharedReads(platformOfRun().flowControl);
});

/** A function of the package, which a program calls by itself or after resources. */
export class DataSource<Args extends object, Result> {
  constructor(
    private readonly name: string,
    private readonly argumentNames: NamesOf<Args>,
  ) {}

  /**
   * Reads from the platform, or asks `call` of `pulumi.runtime.setMocks`: a unit test sends no request.
   *
   * @throws RekeyError that ends the program, unless the program catches it
   */
  async read(args: Args): Promise<Result> {
    const { name, argumentNames } = this;
    try {
      for (const [argument, value] of [["its arguments", args] as const, ...Object.entries(args ?? {})]) {
        if (!isLate(value)) continue;
        const reason = `must not be an Output or a Promise: use ${name}Output, which waits for its value`;
        throw new InputError(argument, reason);
      }
      refuseUnknown("its arguments", args, argumentNames);
      const given = { ...args } as Properties;
      if (isMocked()) return (await pulumi.runtime.invoke(`rekey:index:${name}`, given)) as Result;
      return (await functions[name]?.({ platform: platformOfRun(), queue: queueOfRun }, given)) as Result;
    } catch (error) {
      throw endingError(name, error);
    }
  }

  /**
   * Reads when the arguments are known and the resources are done; in a preview, nothing while one of them is unknown.
   *
   * @throws RekeyError for an argument or option that does not exist
   */
  readAfter(
    args: { readonly [K in keyof Args]: pulumi.Input<Args[K]> },
    options: DataSourceOptions = {},
  ): pulumi.Output<Result> {
    checked(`${this.name}Output`, () => {
      refuseUnknown("its arguments", args, this.argumentNames);
      refuseUnknown("its options", options, optionNames);
    });
    const done = pulumi.output(options.dependsOn).apply(allDone);
    return pulumi.all([pulumi.output(args as unknown), done]).apply(([known]) => this.read(known as Args));
  }
}

type OneOrMore = pulumi.Unwrap<pulumi.Resource[]> | pulumi.Resource | undefined;

/**
 * Resolves when resources are done, including the children of components. In a preview it is unknown if one is unknown.
 * `pulumi.output(resource)` does not wait for resources.
 */
function allDone(resources: OneOrMore): pulumi.Output<unknown> {
  const list = resources === undefined ? [] : Array.isArray(resources) ? resources : [resources];
  return pulumi.all(list.map(done));
}

function done(resource: pulumi.Resource): pulumi.Output<unknown> {
  if (pulumi.CustomResource.isInstance(resource)) {
    // In a preview of a reset, id and urn are known, but its outputs are not.
    const count = FlowControlReset.isInstance(resource) ? resource.resetCount : undefined;
    return pulumi.all([resource.urn, resource.id, count]);
  }
  // A component may create children after its constructor returns.
  return pulumi.all([resource.urn, initializationOf(resource)]).apply(() => allDone([...childrenOf(resource)]));
}
