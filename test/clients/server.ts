import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Test } from 'tap'
import type { ServerStep } from './table.js'

/** A request as it came. */
export interface Asked {
  method: string
  url: string
  key: string | undefined
  authorization: string | undefined
  contentType: string | undefined
  body: string
  /** The client's port: requests with the same one came by one connection. */
  port: number | undefined
}

/**
 * A server that does for each behaviour one step after the other, by real connections. The first part of a path says
 * which behaviour it is, and whose run.
 */
export async function scriptedServer(t: Test) {
  const scripts = new Map<string, { left: ServerStep[]; asked: Asked[]; keeps: boolean }>()
  const server = createServer((request, response) => {
    const [, name = '', ...rest] = (request.url ?? '').split('/')
    const script = scripts.get(name)
    read(request).then(
      (body) => {
        if (script === undefined) return response.writeHead(500).end()
        const { headers, method = '' } = request
        script.asked.push({
          method,
          url: `/${rest.join('/')}`,
          key: headers['idempotency-key'] as string | undefined,
          authorization: headers.authorization,
          contentType: headers['content-type'],
          body,
          port: request.socket.remotePort,
        })
        return act(script.left.shift(), request, response, script.keeps)
      },
      () => {},
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return {
    /** The address for one run of a behaviour, and what was asked there. */
    script(name: string, steps: readonly ServerStep[], keeps = false) {
      const script = { left: [...steps], asked: [] as Asked[], keeps }
      scripts.set(name, script)
      return { url: `http://127.0.0.1:${port}/${name}`, ...script }
    },
  }
}

async function read(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  return Buffer.concat(pieces).toString()
}

/** Sends the same again and again, until the other side has had enough. */
function pour(socket: Socket, piece: string) {
  socket.on('error', () => {})
  const go = () => {
    while (!socket.destroyed && socket.write(piece));
  }
  socket.on('drain', go)
  go()
}

function act(
  step: ServerStep | undefined,
  request: IncomingMessage,
  response: ServerResponse,
  keeps: boolean,
) {
  switch (step) {
    case undefined:
      return response.writeHead(500).end('More requests than steps')
    case 'killed':
      return request.socket.resetAndDestroy()
    case 'silent':
      return undefined
    case 'stalled':
      response.writeHead(200, { 'content-length': '100', connection: 'close' })
      return response.write('{"id":')
    case 'truncated':
      response.writeHead(200, { 'content-length': '100', connection: 'close' })
      response.write('{"id":"x"}')
      return setTimeout(() => request.socket.destroy(), 20)
    case 'kept open':
      return request.socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{"id":"x"}`)
    case 'informed': {
      request.socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n')
      request.socket.write('HTTP/1.1 102 Processing\r\n\r\n')
      return response.writeHead(200, { connection: 'close' }).end('{"id":"x"}')
    }
    case 'endless head':
      request.socket.write('HTTP/1.1 200 OK\r\n')
      return pour(request.socket, `X: ${'x'.repeat(1_000)}\r\n`.repeat(64))
    case 'endless':
      request.socket.write('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n')
      return pour(request.socket, ' '.repeat(65_536))
    case 'endless by length':
      request.socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${'9'.repeat(15)}\r\n\r\n`)
      return pour(request.socket, ' '.repeat(65_536))
    case 'endless by pieces':
    case 'endless in little': {
      const size = step === 'endless by pieces' ? 65_536 : 64
      request.socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
      const chunk = `${size.toString(16)}\r\n${' '.repeat(size)}\r\n`
      return pour(request.socket, chunk.repeat(65_536 / size))
    }
    case 'dripping': {
      const timer = setInterval(() => request.socket.write('H'), 100)
      return request.socket.once('close', () => clearInterval(timer))
    }
    default: {
      const { status, body, headers = {} } = step
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      // As the appliance does: the connection stays, and the length is said before.
      const own = keeps ? { 'content-length': Buffer.byteLength(text) } : { connection: 'close' }
      const isChunked = 'transfer-encoding' in headers
      return response.writeHead(status, isChunked ? headers : { ...own, ...headers }).end(text)
    }
  }
}
