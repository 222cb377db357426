export * from "./engine/index";
export * from "./memoryStack";
export * from "./platform/index";
