import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'

/**
 * A receiver that does as it is told, well or badly: each phase of a session has its own script.
 * Written on the raw socket, so that it can send what no server library would.
 */
export interface FakeMx {
  readonly host: string
  readonly port: number
  /** What has been accepted (answered 2yz after the dot), in order. */
  readonly messages: readonly ReceivedMessage[]
  /** What came to its final dot and was not accepted: refused, or left without an answer. */
  readonly unaccepted: readonly ReceivedMessage[]
  readonly sessions: readonly MxSession[]
  /** Resolves when `count` messages have been accepted; rejects after `withinMs` (10 s). */
  waitForMessages(count: number, withinMs?: number): Promise<readonly ReceivedMessage[]>
  /** Resolves when `isSo` holds; it is asked after every command and message. */
  waitUntil(isSo: () => boolean, withinMs?: number): Promise<void>
  /** Behaves differently from now on, in running sessions too. */
  change(script: MxScript): void
  /** Writes to all sessions at once, unasked; `drop` hangs up. */
  interject(act: Act): Promise<void>
}

export interface ReceivedMessage {
  from: string
  to: string[]
  /** The exact bytes, dots unstuffed, with the CRLF before the final dot. */
  raw: Buffer
  tls: boolean
  remoteAddress: string
  remotePort: number
  /** The parameters of MAIL, e.g. `SIZE=42 BODY=8BITMIME`. */
  parameters: string
}

export interface MxSession {
  remoteAddress: string
  remotePort: number
  /** Command lines as they came, without CRLF; AUTH's answers included. */
  commands: string[]
  tls: boolean
  /** The server name that the client asked for in its TLS handshake. */
  servername?: string
  closed: boolean
}

/**
 * What to do at a point of a session. A string is a reply, CRLF added; `drop` closes, `rst`
 * resets, `hang` never answers.
 */
export type Act =
  | string
  | { reply: string; delayMs: number }
  /** Exactly these bytes. */
  | { raw: string | Buffer }
  /** These bytes, then hang up. */
  | { last: string }
  /** One byte at a time, for ever again from the start when `endless`. */
  | { drip: string; everyMs: number; endless?: boolean }
  /** The same bytes over and over, as fast as they are taken. */
  | { flood: string }

/** One act always; a list consumed in turn over all sessions, the last one stays; or a function. */
export type Script = Act | readonly Act[] | ((argument: string, session: MxSession) => Act)

export interface MxScript {
  banner?: Script
  /** Lines of the EHLO reply after the first, e.g. `PIPELINING`; `STARTTLS` is added with `tls`. */
  capabilities?: readonly string[]
  /** Instead of the reply made of `capabilities`. */
  ehlo?: Script
  helo?: Script
  /** A reply beginning with 220 is followed by the handshake. */
  startTls?: Script
  auth?: Script
  mail?: Script
  rcpt?: Script
  data?: Script
  /** While the message comes, once this many bytes of it are there. */
  midData?: { afterBytes: number; act: Act }
  /** The reply to the message. Asked with its text. */
  dot?: Script
  rset?: Script
  quit?: Script
  tls?: { cert: string; key: string }
  /** TLS from the first byte. */
  implicitTls?: boolean
  /** Where to listen; 127.0.0.1 if not given. */
  host?: string
  /** The port to listen on; any free one if not given. */
  port?: number
  /** Never reads what the client sends after DATA. */
  deafToData?: boolean
}

const usualCapabilities = ['PIPELINING', 'SIZE 20971520', '8BITMIME', 'SMTPUTF8', 'DSN']

/** Starts a receiver; the test's end stops it. */
export async function fakeMx(
  t: { teardown(stop: () => unknown): void },
  script: MxScript = {},
): Promise<FakeMx> {
  const mx = new Mx(script)
  const server = createServer((socket) => mx.serve(socket))
  server.listen(script.port ?? 0, script.host ?? '127.0.0.1')
  await once(server, 'listening')
  mx.port = (server.address() as AddressInfo).port
  t.teardown(async () => {
    mx.hangUp()
    server.close()
    await once(server, 'close')
  })
  return mx
}

class Mx implements FakeMx {
  readonly host: string
  port = 0
  readonly messages: ReceivedMessage[] = []
  readonly unaccepted: ReceivedMessage[] = []
  readonly sessions: MxSession[] = []
  script: MxScript
  readonly #turns = new Map<Script, number>()
  readonly #dialogues = new Set<Dialogue>()
  readonly #watchers = new Set<() => void>()

  constructor(script: MxScript) {
    this.script = script
    this.host = script.host ?? '127.0.0.1'
  }

  serve(socket: Socket): void {
    const dialogue = new Dialogue(this, socket)
    this.#dialogues.add(dialogue)
    this.sessions.push(dialogue.session)
    socket.once('close', () => {
      this.#dialogues.delete(dialogue)
      dialogue.session.closed = true
      this.changed()
    })
    void dialogue.run()
    this.changed()
  }

  change(script: MxScript): void {
    this.script = { ...this.script, ...script }
  }

  async interject(act: Act): Promise<void> {
    await Promise.all([...this.#dialogues].map((dialogue) => dialogue.perform(act)))
  }

  async waitForMessages(count: number, withinMs?: number): Promise<readonly ReceivedMessage[]> {
    await this.waitUntil(() => this.messages.length >= count, withinMs)
    return this.messages
  }

  waitUntil(isSo: () => boolean, withinMs = 10_000): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (!isSo()) return
        clearTimeout(timer)
        this.#watchers.delete(look)
        resolve()
      }
      const timer = setTimeout(() => {
        this.#watchers.delete(look)
        const seen = `${this.messages.length} accepted, ${this.unaccepted.length} not`
        reject(new Error(`The fake MX waited ${withinMs} ms in vain: ${seen}`))
      }, withinMs)
      this.#watchers.add(look)
      look()
    })
  }

  changed(): void {
    for (const look of this.#watchers) look()
  }

  /** What the script says now, or else `usual`. */
  act(script: Script | undefined, usual: Act, argument: string, session: MxSession): Act {
    if (script === undefined) return usual
    if (typeof script === 'function') return script(argument, session)
    if (!isList(script)) return script
    const turn = this.#turns.get(script) ?? 0
    this.#turns.set(script, turn + 1)
    return script[Math.min(turn, script.length - 1)] ?? usual
  }

  hangUp(): void {
    for (const dialogue of this.#dialogues) dialogue.end()
  }
}

/** One session: reads commands in order and answers each by the script. */
class Dialogue {
  readonly session: MxSession
  readonly #mx: Mx
  #socket: Socket
  #bytes = Buffer.alloc(0)
  #ended = false
  #wake: () => void = () => {}
  #from: string | undefined
  #parameters = ''
  #to: string[] = []

  constructor(mx: Mx, socket: Socket) {
    this.#mx = mx
    this.#socket = socket
    this.session = {
      remoteAddress: socket.remoteAddress ?? '',
      remotePort: socket.remotePort ?? 0,
      commands: [],
      tls: false,
      closed: false,
    }
    socket.setNoDelay(true)
    socket.on('close', () => this.#stop())
    socket.on('error', () => this.#stop())
    if (mx.script.implicitTls !== true) this.#listen()
  }

  async run(): Promise<void> {
    const { script } = this.#mx
    if (script.implicitTls === true) this.#secure()
    await this.#answer(script.banner, '220 fake.example.test ESMTP')
    for (let line = await this.#line(); line !== undefined; line = await this.#line()) {
      this.session.commands.push(line)
      await this.#obey(line)
      this.#mx.changed()
    }
  }

  end(): void {
    this.#ended = true
    this.#socket.destroy()
    this.#wake()
  }

  async perform(act: Act): Promise<void> {
    if (act === 'hang') await this.#forever()
    else if (act === 'drop') this.#socket.end()
    else if (act === 'rst') this.#socket.resetAndDestroy()
    else if (typeof act === 'string') await this.#write(`${act}\r\n`)
    else if ('reply' in act) {
      await this.#pause(act.delayMs)
      await this.#write(`${act.reply}\r\n`)
    } else if ('raw' in act) await this.#write(act.raw)
    else if ('last' in act) this.#socket.end(act.last)
    else if ('flood' in act) while (!this.#ended) await this.#write(act.flood.repeat(64))
    else {
      do {
        for (const character of act.drip) {
          if (this.#ended) return
          await this.#write(character)
          await this.#pause(act.everyMs)
        }
      } while (act.endless === true)
    }
  }

  async #obey(line: string): Promise<void> {
    const { script } = this.#mx
    const [verb = ''] = line.split(' ', 1)
    const argument = line.slice(verb.length + 1)
    switch (verb.toUpperCase()) {
      case 'EHLO':
        return await this.#answer(script.ehlo, this.#ehlo(), argument)
      case 'HELO':
        return await this.#answer(script.helo, '250 fake.example.test', argument)
      case 'STARTTLS':
        if (await this.#answer220(script.startTls)) this.#secure()
        return
      case 'AUTH':
        return await this.#answer(script.auth, '235 2.7.0 welcome', argument)
      case 'MAIL':
        this.#from = bracketed(argument)
        this.#parameters = argument.slice(argument.indexOf('>') + 1).trim()
        this.#to = []
        return await this.#answer(script.mail, '250 2.1.0 sender ok', this.#from)
      case 'RCPT': {
        const act = this.#decide(script.rcpt, '250 2.1.5 recipient ok', bracketed(argument))
        if (replyOf(act).startsWith('2')) this.#to.push(bracketed(argument))
        return await this.perform(act)
      }
      case 'DATA': {
        const usual = this.#to.length === 0 ? '503 5.5.1 no recipient' : '354 go ahead'
        const act = this.#decide(script.data, usual)
        await this.perform(act)
        if (replyOf(act).startsWith('354')) await this.#receive()
        return
      }
      case 'RSET':
        this.#to = []
        return await this.#answer(script.rset, '250 2.0.0 reset')
      case 'QUIT':
        return await this.#answer(script.quit, { last: '221 2.0.0 bye\r\n' })
      default:
        // An unknown verb may be the next line of an AUTH dialogue.
        return await this.#answer(script.auth, '500 5.5.2 unknown command', line)
    }
  }

  async #receive(): Promise<void> {
    const { script } = this.#mx
    if (script.deafToData === true) {
      this.#socket.pause()
      return await this.#forever()
    }
    if (script.midData !== undefined) {
      const { afterBytes, act } = script.midData
      await this.#until(() => this.#bytes.length >= afterBytes)
      await this.perform(act)
    }
    const raw = await this.#message()
    if (raw === undefined) return
    const { remoteAddress, remotePort, tls } = this.session
    const message = {
      from: this.#from ?? '',
      to: this.#to,
      raw,
      tls,
      remoteAddress,
      remotePort,
      parameters: this.#parameters,
    }
    this.#to = []
    const act = this.#decide(script.dot, '250 2.0.0 accepted', raw.toString('latin1'))
    const list = replyOf(act).startsWith('2') ? this.#mx.messages : this.#mx.unaccepted
    list.push(message)
    await this.perform(act)
  }

  /** Everything up to CRLF.CRLF, and nothing else ends it: smuggled ends stay part of `raw`. */
  async #message(): Promise<Buffer | undefined> {
    let looked = 0
    let end = -1
    await this.#until(() => {
      if (this.#bytes.subarray(0, 3).equals(Buffer.from('.\r\n'))) end = 0
      else {
        const found = this.#bytes.indexOf('\r\n.\r\n', Math.max(0, looked - 4))
        end = found === -1 ? -1 : found + 2
      }
      looked = this.#bytes.length
      return end !== -1
    })
    if (end === -1) return undefined
    const stuffed = this.#bytes.subarray(0, end).toString('latin1')
    this.#bytes = this.#bytes.subarray(end + 3)
    return Buffer.from(stuffed.replace(/(^|\r\n)\./g, '$1'), 'latin1')
  }

  async #line(): Promise<string | undefined> {
    let end = -1
    await this.#until(() => {
      end = this.#bytes.indexOf('\r\n')
      return end !== -1
    })
    if (end === -1) return undefined
    const line = this.#bytes.subarray(0, end).toString('utf8')
    this.#bytes = this.#bytes.subarray(end + 2)
    return line
  }

  #ehlo(): string {
    const { capabilities = usualCapabilities, tls } = this.#mx.script
    const lines = ['fake.example.test', ...capabilities]
    if (tls !== undefined && !this.session.tls) lines.push('STARTTLS')
    return lines.map((line, at) => `250${at < lines.length - 1 ? '-' : ' '}${line}`).join('\r\n')
  }

  #decide(script: Script | undefined, usual: Act, argument = ''): Act {
    return this.#mx.act(script, usual, argument, this.session)
  }

  async #answer(script: Script | undefined, usual: Act, argument = ''): Promise<void> {
    await this.perform(this.#decide(script, usual, argument))
  }

  async #answer220(script: Script | undefined): Promise<boolean> {
    const act = this.#decide(script, '220 2.0.0 ready')
    await this.perform(act)
    return replyOf(act).startsWith('220')
  }

  #secure(): void {
    const { tls } = this.#mx.script
    if (tls === undefined) throw new Error('A fake MX without a certificate has no TLS')
    this.#socket.removeAllListeners('data')
    const secured = new TLSSocket(this.#socket, { isServer: true, cert: tls.cert, key: tls.key })
    secured.on('error', () => this.#stop())
    secured.once('secure', () => {
      const name: unknown = Reflect.get(secured, 'servername')
      if (typeof name === 'string') this.session.servername = name
    })
    this.session.tls = true
    this.#socket = secured
    this.#listen()
  }

  #listen(): void {
    this.#socket.on('data', (chunk: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk])
      this.#wake()
    })
    this.#socket.on('end', () => this.#stop())
  }

  #stop(): void {
    this.#ended = true
    this.#wake()
  }

  async #until(isSo: () => boolean): Promise<void> {
    while (!isSo() && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  #forever(): Promise<void> {
    return this.#until(() => false)
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, ms))
  }

  async #write(bytes: string | Buffer): Promise<void> {
    if (this.#ended || !this.#socket.writable) return
    await new Promise<void>((resolve) => this.#socket.write(bytes, () => resolve()))
  }
}

function isList(script: Act | readonly Act[]): script is readonly Act[] {
  return Array.isArray(script)
}

/** The text of an act, as far as it is a reply. */
function replyOf(act: Act): string {
  if (typeof act === 'string') return act
  if ('reply' in act) return act.reply
  if ('raw' in act) return act.raw.toString()
  if ('last' in act) return act.last
  return 'drip' in act ? act.drip : ''
}

function bracketed(argument: string): string {
  return argument.slice(argument.indexOf('<') + 1, argument.lastIndexOf('>'))
}
