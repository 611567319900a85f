import { isObject, type JsonObject } from "../../../base/api/object.ts";
import { quote } from "../../../base/go/quote.ts";
import { parseJsonText } from "../../../base/util/parse-json.ts";

/** The final status of a successful command. Upstream: `metav1.Status`, printed without its kind. */
export function successStatus(): JsonObject {
  return { metadata: {}, status: "Success" };
}

/** The status of a command that ended with an exit code other than 0. Upstream: `codeExitToStatusError`. */
export function exitStatus(code: number): JsonObject {
  return {
    metadata: {},
    status: "Failure",
    message: `command terminated with non-zero exit code: command terminated with exit code ${code}`,
    reason: "NonZeroExitCode",
    details: { causes: [{ reason: "ExitCode", message: String(code) }] },
  };
}

/** The status of a command that could not be run. Upstream: `NewInternalError`. */
export function failureStatus(text: string): JsonObject {
  return {
    metadata: {},
    status: "Failure",
    message: `Internal error occurred: ${text}`,
    reason: "InternalError",
    details: { causes: [{ message: text }] },
    code: 500,
  };
}

/** Parses an error stream of version 4 and above. Upstream: `errorDecoderV4`. */
export function readErrorStream(text: string): JsonObject {
  if (text === "") return successStatus();
  const protocolError = (why: string) => failureStatus(`error stream protocol error: ${why}`);
  let status: unknown;
  try {
    status = parseJsonText(text);
  } catch (error) {
    return protocolError(`${error instanceof Error ? error.message : error} in ${quote(text)}`);
  }
  if (!isObject(status)) return protocolError("unknown error");
  if (status.status === "Success") return successStatus();
  if (status.status !== "Failure") return protocolError("unknown error");
  if (status.reason !== "NonZeroExitCode") return failureStatus(String(status.message ?? ""));
  const causes = isObject(status.details) && Array.isArray(status.details.causes) ? status.details.causes : undefined;
  if (causes === undefined) return protocolError("details must be set");
  const cause = causes.filter(isObject).find(({ reason }) => reason === "ExitCode");
  if (cause === undefined) return protocolError("no ExitCode cause given");
  const code = String(cause.message);
  if (!/^\d{1,3}$/.test(code) || Number(code) > 255) return protocolError(`invalid exit code value ${quote(code)}`);
  return exitStatus(Number(code));
}

/** The error stream text for versions before 4. Empty on success. */
export function plainStatus(status: JsonObject): string {
  return status.status === "Success" ? "" : String(status.message ?? "");
}
