import type { Answer, ListenerOptions } from "./listener.ts";

type OnUpgrade = NonNullable<ListenerOptions["onUpgrade"]>;

/** Serves upgrades by `serveUpgrades`, which is loaded with `ws` when the first client asks for one. */
export function serveUpgradesOnDemand(answer: Answer, reportError: (error: unknown) => void): OnUpgrade {
  let loading: Promise<OnUpgrade> | undefined;
  return (exchange, socket, head) => {
    loading ??= import("./websocket.ts").then(({ serveUpgrades }) => serveUpgrades(answer, reportError));
    loading.then((serve) => serve(exchange, socket, head)).catch(reportError);
  };
}
