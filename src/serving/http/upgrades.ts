import type { Answer, ListenerOptions } from "./listener.ts";

type OnUpgrade = NonNullable<ListenerOptions["onUpgrade"]>;

/** Serves upgrades with `serveUpgrades`, which is loaded together with `ws` on the first upgrade. */
export function serveUpgradesOnDemand(answer: Answer, reportError: (error: unknown) => void): OnUpgrade {
  let loading: Promise<OnUpgrade> | undefined;
  return (exchange, socket, head) => {
    loading ??= import("./websocket.ts").then(({ serveUpgrades }) => serveUpgrades(answer, reportError));
    loading.then((serve) => serve(exchange, socket, head)).catch(reportError);
  };
}
