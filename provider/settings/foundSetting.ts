/** A setting as it is written, usable or not. Apart from the settings, because the SDK's public types reach it. */
export interface FoundSetting {
  readonly value: string;
  readonly source: "configuration" | "environment" | "preset";
  /** The environment variable, if it comes from one. */
  readonly variable?: string;
}
