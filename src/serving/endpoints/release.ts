import type { VersionInfo } from "./version.ts";

/** The Kubernetes release that this server emulates. Served at `/version`, because clients depend on it. */
export const release: { readonly version: string; readonly info: VersionInfo } = {
  version: "1.37",
  info: {
    major: "1",
    minor: "37",
    gitVersion: "v1.37.1+binnacle",
    gitCommit: "0000000000000000000000000000000000000000",
    gitTreeState: "clean",
    buildDate: "2026-11-15T00:00:00Z",
    goVersion: "none",
    compiler: `node ${process.version}`,
    platform: `${process.platform}/${process.arch}`,
  },
};

/** The version of this package. Must match package.json. */
export const PACKAGE_VERSION = "0.1.0";
