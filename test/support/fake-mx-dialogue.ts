import type { Socket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'
import {
  type Act,
  type MxScript,
  type MxSession,
  type ReceivedMessage,
  replyOf,
  type Script,
} from './fake-mx-script.js'

const usualCapabilities = ['PIPELINING', 'SIZE 20971520', '8BITMIME', 'SMTPUTF8', 'DSN']

/** What a dialogue needs of the receiver that it belongs to. */
export interface Receiver {
  readonly script: MxScript
  readonly messages: ReceivedMessage[]
  readonly unaccepted: ReceivedMessage[]
  act(script: Script | undefined, usual: Act, argument: string, session: MxSession): Act
  /** Wakes those who wait for something. */
  changed(): void
}

/** One session: reads commands in order and answers each by the script. */
export class Dialogue {
  readonly session: MxSession
  readonly #mx: Receiver
  /** The socket under TLS, because a TLS socket cannot be reset. */
  readonly #plain: Socket
  #socket: Socket
  #bytes = Buffer.alloc(0)
  #ended = false
  #wake: () => void = () => {}
  #from: string | undefined
  #parameters = ''
  #to: string[] = []

  constructor(mx: Receiver, socket: Socket) {
    this.#mx = mx
    this.#plain = socket
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
      this.#mx.changed()
      await this.#obey(line)
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
    else if (act === 'rst') this.#plain.resetAndDestroy()
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
        if (!(await this.#answer220(script.startTls))) return
        if (script.handshake === 'hang') return await this.#forever()
        return this.#secure()
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
    if (script.slowBytesPerSecond !== undefined) void this.#readSlowly(script.slowBytesPerSecond)
    if (script.midData !== undefined) {
      const { afterBytes, act } = script.midData
      await this.#until(() => this.#bytes.length >= afterBytes)
      await this.perform(act)
      // Messages that had already arrived are not accepted.
      if (act === 'drop' || act === 'rst') return
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
    this.#mx.changed()
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

  async #readSlowly(bytesPerSecond: number): Promise<void> {
    for (let read = this.#bytes.length; !this.#ended; read = this.#bytes.length) {
      this.#socket.pause()
      await this.#pause(50)
      this.#socket.resume()
      await this.#until(() => this.#bytes.length - read >= bytesPerSecond / 20)
    }
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
    const { tls, secured: act } = this.#mx.script
    if (tls === undefined) throw new Error('A fake MX without a certificate has no TLS')
    this.#socket.removeAllListeners('data')
    const { wantsCertificate = false, ...certificate } = tls
    const secured = new TLSSocket(this.#socket, {
      isServer: true,
      secureContext: createSecureContext(certificate),
      requestCert: wantsCertificate,
      rejectUnauthorized: wantsCertificate,
    })
    secured.on('error', () => this.#stop())
    secured.once('secure', () => {
      const name: unknown = Reflect.get(secured, 'servername')
      if (typeof name === 'string') this.session.servername = name
      if (act === 'drop') secured.end()
    })
    this.session.tls = true
    this.#socket = secured
    this.#listen()
  }

  #listen(): void {
    this.#socket.on('data', (chunk: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk])
      this.#mx.script.onData?.(chunk)
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

function bracketed(argument: string): string {
  return argument.slice(argument.indexOf('<') + 1, argument.lastIndexOf('>'))
}
