import type { ContainerContext, ContainerFunction, Handlers } from "../../src/index.ts";

type Script = (context: ContainerContext, parts: readonly string[]) => number | Promise<number>;

const HOUR_MS = 3_600_000;
const missing = (image: string) => ({ pullError: `failed to resolve image: ${image}: not found` });

/** Until the container is stopped. */
async function forever({ sleep }: ContainerContext): Promise<never> {
  for (;;) await sleep(HOUR_MS);
}

/** The commands of the suite's containers, by their text. */
const SCRIPTS: readonly (readonly [RegExp, Script])[] = [
  [/^sleep (\d+)$/, ({ sleep }, [, seconds]) => sleep(Number(seconds) * 1000).then(() => 0)],
  [/^\/bin\/(true|false)$/, (_, [, name]) => (name === "true" ? 0 : 1)],
  [/^\/bin\/sh -c exit (\d+)$/, (_, [, code]) => Number(code)],
  [
    /^sh -c if \[ \$\(expr \$\{JOB_COMPLETION_INDEX\} % 2\) -ne 0 \];/,
    ({ env }) => Number(env.JOB_COMPLETION_INDEX) % 2,
  ],
  [/^\/bin\/sh -c if \[\[ -r \/data\/foo \]\]/, ({ restartCount }) => (restartCount > 0 ? 0 : 1)],
  [/^$/, () => 0],
];

const busybox: ContainerFunction = async (context) => {
  const text = [...context.command, ...context.args].join(" ").replaceAll(/\s+/g, " ").trim();
  for (const [pattern, script] of SCRIPTS) {
    const parts = pattern.exec(text);
    if (parts) return script(context, parts);
  }
  context.log(`unknown command: ${text}`);
  return 127;
};

/** It needs a moment to stop, so that clients see Pods that are being deleted. */
const agnhost: ContainerFunction = async ({ log, signal }) => {
  log("Paused");
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  await new Promise((resolve) => setTimeout(resolve, 1000));
  return 0;
};

/** For `--handlers`: the containers of the official tests as functions. */
export const handlers: Handlers = {
  images: {
    "*/busybox:*": busybox,
    "*/agnhost:*": agnhost,
    "*/pause:*": forever,
    "foo:non-existent": missing("foo:non-existent"),
    "webserver:404": missing("webserver:404"),
    "*:nonexistent": missing("nonexistent"),
  },
};
