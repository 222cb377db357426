// What the program itself says, through the SDK.
import { ofInstallation } from "./installationSamples.mjs";

export const sections = [
  {
    title: "Installation",
    about: "Said by the program, when it makes its first resource. Nothing was sent. `rekey doctor` finds both before.",
    entries: [
      [
        await ofInstallation(false),
        "Pulumi runs providers written in TypeScript in a process of its own, which looks for the package from the program's folder upwards. It is installed somewhere else, or not at all.",
      ],
      [
        await ofInstallation(true),
        "Two copies could be of two versions, and would not know of each other's resets. Often a library of yours brings its own: give it `pulumi-rekey` as a peer dependency.",
      ],
    ],
  },
];
