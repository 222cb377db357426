export * from "./memoryStack";
export * from "./platform/index";
