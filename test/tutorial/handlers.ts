import type { CommandContext, ContainerDefinition, Handlers } from "../../src/index.ts";

/** What the images of the tutorial do: `binnacle up --handlers FILE`. */
const bootcamp = (version: number): ContainerDefinition => ({
  run: async ({ env, log, signal }) => {
    log(`Kubernetes Bootcamp App Started | Running On: ${env.HOSTNAME}\n`);
    await forever(signal);
  },
  http: (_, { pod }) => new Response(`Hello Kubernetes bootcamp! | Running on: ${pod.metadata.name} | v=${version}\n`),
  exec: ({ command: [program = ""] }, context) => programs[program]?.(context) ?? 127,
  usage: () => ({ cpu: "10m", memory: "16Mi" }),
});

const programs: Readonly<Record<string, (context: CommandContext) => number | string>> = {
  env: ({ env }) =>
    `PATH=/usr/bin:/bin\n${Object.entries(env)
      .map(([name, value]) => `${name}=${value}\n`)
      .join("")}HOME=/root\n`,
  false: () => 1,
};

const forever = (signal: AbortSignal) => new Promise((resolve) => signal.addEventListener("abort", resolve));

const missing = (image: string) => ({
  pullError: `rpc error: code = NotFound desc = failed to pull and unpack image "docker.io/library/${image}": not found`,
});

export const handlers: Handlers = {
  images: {
    "kubernetes-bootcamp:v1": bootcamp(1),
    "kubernetes-bootcamp:v2": bootcamp(2),
    "kubernetes-bootcamp:v10": missing("kubernetes-bootcamp:v10"),
    "example/harbour:missing": missing("example/harbour:missing"),
    "example/harbour:bad-migration": async ({ command, signal }) => {
      if (command[0] !== "migrate") await forever(signal);
      return 1;
    },
    "example/test:*": () => 0,
  },
};
