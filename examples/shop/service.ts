import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { ApiError, type Server, startServer, type User } from "binnacle";
import { Customers, type Order, Orders, Parcels } from "./kinds.ts";
import { fulfil, welcome } from "./reconcilers.ts";
import { CLERKS, customerUser, namespaceOf, PERMISSIONS } from "./users.ts";

/** What the shop needs. */
export interface ShopOptions {
  /** The SQLite file with all objects. */
  readonly file: string;
  /** Finds who a session belongs to. Your own login goes here. */
  readonly login: (session: string) => Session | undefined;
  /** Pays back an order that is cancelled before it is shipped. Called again if it fails. */
  readonly refund: (order: Order) => Promise<void>;
}

/** Who is logged in: a customer, or a clerk of the warehouse. */
export type Session = { readonly customer: string } | { readonly clerk: string };

/** A web service that stores its objects in an embedded control plane, so kubectl, watches and apply work with them. */
export interface Shop extends AsyncDisposable {
  readonly url: string;
  /** Kubeconfig for kubectl, dashboards and operators. */
  readonly kubeconfig: string;
  /** Resolves when all orders are processed, for tests. */
  settled(): Promise<void>;
}

/** Starts the shop. README.md lists its requests. */
export async function startShop({ file, login, refund }: ShopOptions): Promise<Shop> {
  await using stack = new AsyncDisposableStack();
  const kinds = [Customers, Orders, Parcels];
  const server = stack.use(await startServer({ kinds, store: { type: "sqlite", file }, log: false }));
  await server.apply(PERMISSIONS);
  server.reconcile(Customers, welcome(server));
  const orders = server.reconcile(Orders, fulfil, {
    owns: [Parcels],
    finalizers: {
      "shop.example/refund": async (order) => {
        if (order.status?.phase !== "Shipped") await refund(order);
      },
    },
  });
  const web = createServer(async (message, response) => {
    const { status, body } = await answer(server, login, message).catch(failure);
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
  stack.defer(() => new Promise<void>((resolve) => web.close(() => resolve())));
  const address = web.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const opened = stack.move();
  return {
    url: `http://127.0.0.1:${port}`,
    kubeconfig: server.kubeconfig,
    settled: () => orders.settled(),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** Answers a request with the permissions of the user who sent it. The control plane rejects everything else. */
async function answer(server: Server, login: ShopOptions["login"], message: IncomingMessage): Promise<Answer> {
  const { pathname } = new URL(message.url ?? "/", "http://shop");
  const [, resource, name = "", parcel = ""] = pathname.split("/");
  if (message.method === "POST" && resource === "customers") return signUp(server, message);
  const session = login(message.headers.authorization?.replace(/^Bearer /, "") ?? "");
  if (session === undefined) return { status: 401, body: { message: "log in first" } };
  const user = userOf(session);
  const orders = server.client(
    Orders,
    "clerk" in session ? { user } : { user, namespace: namespaceOf(session.customer) },
  );
  switch (`${message.method} ${resource}`) {
    case "GET orders": {
      const { items } = await orders.list({ allNamespaces: "clerk" in session });
      return { status: 200, body: items.map(summary) };
    }
    case "POST orders": {
      const { items } = await read(message);
      const order = await orders.create({ metadata: { generateName: "order-" }, spec: { items } });
      return { status: 201, body: summary(order) };
    }
    case "DELETE orders":
      await orders.delete(name);
      return { status: 202, body: { message: `${name} is being cancelled` } };
    case "POST parcels": {
      const parcels = server.client(Parcels, { user, namespace: namespaceOf(name) });
      await parcels.status.patch(parcel, { isSent: true });
      return { status: 200, body: { message: `${parcel} is sent` } };
    }
    default:
      return { status: 404, body: { message: "there is no such request" } };
  }
}

/** Creates a customer, and waits until the customer may order. */
async function signUp(server: Server, message: IncomingMessage): Promise<Answer> {
  const { name, ...spec } = await read(message);
  const customers = server.client(Customers);
  const { metadata } = await customers.create({ metadata: { name }, spec });
  for await (const event of customers.watch({ fieldSelector: { "metadata.name": metadata.name } })) {
    if (event.type !== "BOOKMARK" && event.object.status?.isReady) break;
  }
  return { status: 201, body: { name: metadata.name } };
}

/** The JSON of a request. The control plane checks it against the schema. */
async function read(message: IncomingMessage) {
  return JSON.parse(await text(message));
}

function userOf(session: Session): User {
  return "customer" in session ? customerUser(session.customer) : { name: `clerk:${session.clerk}`, groups: [CLERKS] };
}

const summary = ({ metadata, spec, status }: Order) => ({ name: metadata.name, items: spec.items, ...status });

/** What the control plane answered: 403, 404, 409, 422 … */
function failure(error: unknown): Answer {
  if (error instanceof ApiError) return { status: error.code, body: { message: error.message } };
  if (error instanceof SyntaxError) return { status: 400, body: { message: "the body is not JSON" } };
  return { status: 500, body: { message: "something went wrong" } };
}
