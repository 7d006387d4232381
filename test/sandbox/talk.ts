import { createConnection, type Socket } from 'node:net'
import { connect } from 'node:tls'

/** A raw SMTP client: says lines, reads replies. */
export class Talk {
  #socket: Socket
  #text = ''
  #news = () => {}

  private constructor(socket: Socket) {
    this.#socket = socket
    this.#listen(socket)
  }

  #listen(socket: Socket): void {
    this.#socket = socket
    socket.setEncoding('utf8')
    socket.on('data', (text: string) => {
      this.#text += text
    })
    socket.on('error', () => {})
    for (const event of ['data', 'close']) socket.on(event, () => this.#news())
  }

  /** Connects and waits for the greeting: smtp-server refuses who talks before it. */
  static async open(t: { teardown(close: () => unknown): void }, port: number): Promise<Talk> {
    const { talk } = await Talk.greeted(t, port)
    return talk
  }

  /** The same with the greeting, from another of this machine's addresses (127.0.0.2, …); `first`: what is sent at once. */
  static async greeted(
    t: { teardown(close: () => unknown): void },
    port: number,
    localAddress = '127.0.0.1',
    first: Buffer | undefined = undefined,
  ): Promise<{ talk: Talk; greeting: string }> {
    const socket = createConnection({ port, host: '127.0.0.1', localAddress })
    if (first !== undefined) socket.write(first)
    t.teardown(() => socket.destroy())
    const talk = new Talk(socket)
    return { talk, greeting: await talk.reply() }
  }

  /** Goes on over TLS; resolves with the server's certificate. */
  async secure(): Promise<Buffer> {
    this.#socket.removeAllListeners('data')
    const secured = connect({ socket: this.#socket, rejectUnauthorized: false })
    await new Promise((resolve, reject) => {
      secured.once('secureConnect', resolve)
      secured.once('error', reject)
    })
    this.#listen(secured)
    return secured.getPeerCertificate().raw
  }

  /** The next whole reply, its lines joined by `\n`. */
  async reply(): Promise<string> {
    for (;;) {
      const end = /^\d{3}(?: [^\r\n]*)?\r\n/m.exec(this.#text)
      if (end !== null) {
        const upTo = end.index + end[0].length
        const reply = this.#text.slice(0, upTo).trimEnd().replaceAll('\r\n', '\n')
        this.#text = this.#text.slice(upTo)
        return reply
      }
      if (this.#socket.destroyed) return 'closed'
      await new Promise<void>((resolve) => {
        this.#news = resolve
      })
    }
  }

  /** Sends a command and resolves with its reply. */
  say(line: string): Promise<string> {
    this.write(`${line}\r\n`)
    return this.reply()
  }

  /** EHLO up to the 354. */
  async upToData(recipients = ['a@b.test'], from = 'me@example.test'): Promise<string> {
    await this.say('EHLO client.test')
    await this.say(`MAIL FROM:<${from}>`)
    for (const recipient of recipients) await this.say(`RCPT TO:<${recipient}>`)
    return this.say('DATA')
  }

  write(bytes: string | Buffer): void {
    this.#socket.write(bytes)
  }

  /** Everything that came and was not read as a reply. */
  get unread(): string {
    return this.#text
  }

  hangUp(): void {
    this.#socket.destroy()
  }
}
