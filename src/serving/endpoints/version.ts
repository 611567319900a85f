import { methodNotAllowed } from "../../base/api/api-error.ts";
import type { Call } from "../../base/api/call.ts";
import type { ApiReply } from "../../base/api/reply.ts";

/** The emulated Kubernetes release and build information. */
export interface VersionInfo {
  readonly major: string;
  readonly minor: string;
  /** Semantic version with a leading `v`. Clients parse it. */
  readonly gitVersion: string;
  readonly gitCommit: string;
  readonly gitTreeState: string;
  readonly buildDate: string;
  readonly goVersion: string;
  readonly compiler: string;
  readonly platform: string;
}

/** Serves `/version`. Throws ApiError 405 for methods other than GET. */
export function version(info: VersionInfo): (call: Call) => ApiReply {
  const { major, minor, ...build } = info;
  const document = {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(Number(minor) - 1),
    ...build,
  };
  const body = JSON.stringify(document, undefined, 2);
  return (call) => {
    if (call.request.method !== "GET") throw methodNotAllowed();
    return { type: "raw", code: 200, headers: { "content-type": "application/json" }, body };
  };
}
