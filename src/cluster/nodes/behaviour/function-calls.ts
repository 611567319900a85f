import { Writable } from "node:stream";
import { printDuration } from "../../../base/go/duration.ts";
import { quote } from "../../../base/go/quote.ts";
import type { Container, ExecAction, HTTPGetAction } from "../../../kinds/types/container.ts";
import type {
  CommandContext,
  ContainerDefinition,
  ContainerState,
} from "../../../serving/connect/handlers/container-functions.ts";

/** A container, as its functions see it. */
export interface CalledContainer {
  readonly state: ContainerState;
  commandContext(): Promise<CommandContext>;
}

/** A call that a kubelet makes to a container: that of a probe or of a hook. */
export interface FunctionCall {
  /** Resolves to undefined if it succeeded, otherwise to why it failed. */
  run(): Promise<string | undefined>;
  /** Why it failed if it takes longer than `timeoutSeconds`. */
  late(timeoutSeconds: number): string;
}

/** Characters of the output of a command that are kept. Upstream: maxReadLength */
const MAX_OUTPUT = 10_240;

/** The call that a handler stands for. Undefined if the container has no function for it. */
export function functionCall(
  definition: ContainerDefinition,
  handler: { readonly exec?: ExecAction; readonly httpGet?: HTTPGetAction },
  container: Container,
  called: CalledContainer,
): FunctionCall | undefined {
  const { http, exec } = definition;
  if (handler.httpGet && http) return httpCall(http, handler.httpGet, container, called);
  return handler.exec && exec ? execCall(exec, handler.exec.command ?? [], called) : undefined;
}

function execCall(
  exec: NonNullable<ContainerDefinition["exec"]>,
  command: readonly string[],
  called: CalledContainer,
): FunctionCall {
  return {
    late(timeoutSeconds) {
      const limit = printDuration(BigInt(timeoutSeconds) * 1_000_000_000n);
      return `command timed out: ${quote(command.join(" "))} timed out after ${limit}`;
    },
    async run() {
      const { pod, container } = called.state;
      let output = "";
      const stream = new Writable({
        write(chunk, _encoding, done) {
          if (output.length < MAX_OUTPUT) output += String(chunk).slice(0, MAX_OUTPUT);
          done();
        },
      });
      const streams = { tty: false, stdin: undefined, stdout: stream, stderr: stream, onResize: () => {} };
      const { signal } = new AbortController();
      const code = await exec({ pod, container, command, ...streams, signal }, await called.commandContext());
      return typeof code === "number" && code !== 0 ? output : undefined;
    },
  };
}

function httpCall(
  http: NonNullable<ContainerDefinition["http"]>,
  { path = "/", port = 80, httpHeaders = [] }: HTTPGetAction,
  { ports = [] }: Container,
  called: CalledContainer,
): FunctionCall {
  const number = typeof port === "number" ? port : (ports.find(({ name }) => name === port)?.containerPort ?? 80);
  const url = `http://localhost:${number}${path}`;
  return {
    late: () => `Get ${quote(url)}: context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
    async run() {
      const headers = httpHeaders.map(({ name = "", value = "" }): [string, string] => [name, value]);
      const { status } = await http(new Request(url, { headers }), called.state);
      return status >= 200 && status < 400 ? undefined : `HTTP probe failed with statuscode: ${status}`;
    },
  };
}
