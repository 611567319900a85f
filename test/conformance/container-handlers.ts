import type { CommandRequest, ContainerContext, ContainerFunction, ContainerState, Handlers } from "../../src/index.ts";

type Script = (context: ContainerContext, parts: readonly string[]) => number | Promise<number>;

const HOUR_MS = 3_600_000;
const missing = (image: string) => ({ pullError: `failed to resolve image: ${image}: not found` });

/** Until the container is stopped. */
async function forever({ sleep }: Pick<ContainerContext, "sleep">): Promise<never> {
  for (;;) await sleep(HOUR_MS);
}

/** Files that containers have created, by volume. Directories of nodes outlive Pods. */
const files = new Set<string>();

/** Creates a file in the first volume of a Pod. Returns whether it existed. */
function touched({ pod }: ContainerContext, name: string): boolean {
  const spec = pod.spec as { volumes?: { hostPath?: { path: string } }[] };
  const file = `${spec.volumes?.[0]?.hostPath?.path ?? pod.metadata.uid}/${name}`;
  const existed = files.has(file);
  files.add(file);
  return existed;
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
  [/^\/bin\/sh -c if \[\[ -r \/data\/foo \]\] /, (context) => (touched(context, "foo") ? 0 : 1)],
  [
    /^\/bin\/sh -c if \[\[ -r \/data\/foo-\$JOB_COMPLETION_INDEX \]\] .* sleep/,
    (context) => (touched(context, `foo-${context.env.JOB_COMPLETION_INDEX}`) ? 0 : forever(context)),
  ],
  [/^$/, () => 0],
];

const textOf = (words: readonly string[]) => words.join(" ").replaceAll(/\s+/g, " ").trim();

const busybox: ContainerFunction = async (context) => {
  const text = textOf([...context.command, ...context.args]);
  for (const [pattern, script] of SCRIPTS) {
    const parts = pattern.exec(text);
    if (parts) return script(context, parts);
  }
  context.log(`unknown command: ${text}`);
  return 127;
};

/** Generates logs, or waits. It needs a moment to stop, so that clients see Pods that are being deleted. */
const agnhost: ContainerFunction = async ({ args, log, signal, sleep }) => {
  const [, count, seconds] = /logs-generator --log-lines-total (\d+) --run-duration (\d+)s/.exec(textOf(args)) ?? [];
  for (let line = 0; line < Number(count ?? 0); line++) {
    log(`${line} GET /api/v1/namespaces/kube-system/pods/web 200`);
    await sleep((Number(seconds) * 1000) / Number(count));
  }
  if (count !== undefined) return 0;
  log("Paused");
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  await new Promise((resolve) => setTimeout(resolve, 1000));
  return 0;
};

/** Pods whose web server has lost the page that probes read. */
const broken = new Set<string>();

/** Moves the page away or back. */
function move({ pod, command }: CommandRequest): string {
  const text = textOf(command);
  const { uid = "" } = pod.metadata;
  if (text.includes("mv -v /localhost.crt /tmp/")) broken.add(uid);
  else if (text.includes("mv -v /tmp/localhost.crt /")) broken.delete(uid);
  return "";
}

function serve({ url }: Request, { pod }: ContainerState): Response {
  const isMissing = new URL(url).pathname === "/localhost.crt" && broken.has(pod.metadata.uid ?? "");
  return new Response(pod.metadata.name ?? "", { status: isMissing ? 404 : 200 });
}

/** For `--handlers`: the containers of the official tests as functions. */
export const handlers: Handlers = {
  images: {
    "*/busybox:*": { run: busybox, exec: () => 0 },
    "*/agnhost:*": { run: agnhost, http: serve, exec: move },
    "*/nautilus:*": { http: () => Response.json({ image: "nautilus.jpg" }) },
    "*/pause:*": forever,
    "foo:non-existent": missing("foo:non-existent"),
    "webserver:404": missing("webserver:404"),
    "*:nonexistent": missing("nonexistent"),
  },
};
