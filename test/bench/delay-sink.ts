import { createServer, type Server } from 'node:net'

/** A receiver that takes its time for each message, and tells of each envelope when it comes. */
export interface DelaySink {
  count(): number
  close(): void
}

/**
 * `onMail` gets the recipient and the time (performance.now) at which MAIL came. Enough of SMTP for
 * one pipelining client on this machine: no TLS, no errors.
 */
export async function openDelaySink(
  port: number,
  delayMs: number,
  onMail: (recipient: string, at: number) => void,
): Promise<DelaySink> {
  let count = 0
  const server: Server = createServer((socket) => {
    let text = ''
    let inData = false
    let mailAt = 0
    socket
      .setNoDelay()
      .setEncoding('latin1')
      .on('error', () => {})
    socket.write('220 sink.test ESMTP\r\n')
    const command = (line: string) => {
      const verb = line.slice(0, 4).toUpperCase()
      if (verb === 'EHLO') socket.write('250-sink.test\r\n250-8BITMIME\r\n250 PIPELINING\r\n')
      else if (verb === 'MAIL') {
        mailAt = performance.now()
        socket.write('250 ok\r\n')
      } else if (verb === 'RCPT') {
        onMail(/<([^>]*)>/.exec(line)?.[1] ?? '', mailAt)
        socket.write('250 ok\r\n')
      } else if (verb === 'DATA') {
        inData = true
        socket.write('354 go\r\n')
      } else if (verb === 'QUIT') socket.end('221 bye\r\n')
      else socket.write('250 ok\r\n')
    }
    const step = (): boolean => {
      const end = text.indexOf(inData ? '\r\n.\r\n' : '\r\n')
      if (end < 0) return false
      if (!inData) {
        const line = text.slice(0, end)
        text = text.slice(end + 2)
        command(line)
        return true
      }
      text = text.slice(end + 5)
      inData = false
      count++
      setTimeout(() => socket.write('250 taken\r\n'), delayMs)
      return true
    }
    socket.on('data', (chunk: string) => {
      text += chunk
      while (step());
    })
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return { count: () => count, close: () => server.close() }
}
