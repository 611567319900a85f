import { createServer, type Server } from "node:http";
import { Agent, request } from "node:https";
import { type Server as ControlPlane, startServer } from "binnacle";
import { type Order, Orders } from "./kinds.ts";

/** A web service whose objects live in a control plane of its own: kubectl, watches and apply come with it. */
export interface Shop extends AsyncDisposable {
  readonly url: string;
  /** For kubectl, dashboards and operators. */
  readonly kubeconfig: string;
}

/** Starts the shop: `GET /orders` lists orders, `POST /orders` makes one. */
export async function startShop(): Promise<Shop> {
  const plane = await startServer({ kinds: [Orders], log: false, shutdownGraceMs: 0 });
  const web = createServer((message, response) => {
    const chunks: Buffer[] = [];
    message.on("data", (chunk: Buffer) => void chunks.push(chunk));
    message.on("end", async () => {
      const body = Buffer.concat(chunks).toString();
      const { status, answer } = await handle(plane, message.method ?? "", message.url ?? "", body);
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
  return {
    url: urlOf(web),
    kubeconfig: plane.kubeconfig,
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => web.close(resolve));
      await plane.close();
    },
  };
}

const ORDERS = `/apis/${Orders.apiVersion}/namespaces/default/${Orders.plural}`;

async function handle(plane: ControlPlane, method: string, path: string, body: string) {
  if (path !== "/orders") return { status: 404, answer: { message: "there are only /orders" } };
  if (method === "GET") {
    const { status, json } = await call(plane, "GET", ORDERS);
    return { status, answer: (json.items as Order[]).map(summary) };
  }
  const spec = JSON.parse(body);
  const order = { apiVersion: Orders.apiVersion, kind: Orders.kind, metadata: { generateName: "order-" }, spec };
  const { status, json } = await call(plane, "POST", ORDERS, order);
  return { status, answer: status === 201 ? summary(json as never) : { message: json.message } };
}

const summary = ({ metadata, spec, status }: Order) => ({
  name: metadata.name,
  customer: spec.customer,
  totalCents: status?.totalCents,
});

function call(plane: ControlPlane, method: string, path: string, body?: object) {
  const headers = { authorization: `Bearer ${plane.token}`, "content-type": "application/json" };
  const agent = new Agent({ ca: plane.ca });
  return new Promise<{ status: number; json: Record<string, unknown> }>((resolve, reject) => {
    const outgoing = request(`${plane.url}${path}`, { method, headers, agent }, async (response) => {
      const text = Buffer.concat(await response.toArray()).toString();
      resolve({ status: response.statusCode ?? 0, json: JSON.parse(text) });
    });
    outgoing.on("error", reject).end(body && JSON.stringify(body));
  });
}

const urlOf = (server: Server): string => {
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
};
