/** The 10 KB mail of `shared/bench/make-message.mjs`: text and HTML in lines of mail's usual length. */
export function benchContent(targetBytes = 10_240): { text: string; html: string; raw: string } {
  let n = 0
  const sentence = () => Array.from({ length: 8 }, () => words[(n++ * 7) % words.length]).join(' ')
  const text: string[] = []
  const html: string[] = []
  const build = () =>
    [
      ...head,
      '--b_0001',
      'Content-Type: text/plain; charset=utf-8',
      '',
      ...text,
      '--b_0001',
      'Content-Type: text/html; charset=utf-8',
      '',
      ...html,
      '--b_0001--',
      '',
    ].join('\n')
  while (build().length < targetBytes) {
    const line = sentence()
    text.push(line.slice(0, 76))
    html.push(`<p style="margin:0 0 8px">${line.slice(0, 60)}</p>`)
  }
  return { text: text.join('\n'), html: html.join('\n'), raw: build() }
}

const words =
  'your order has been received and will be shipped to the address given below within two working days thank you for choosing our store please keep this message for your records'.split(
    ' ',
  )

const head = [
  'From: Bench <bench@example.test>',
  'To: Recipient <rcpt@example.test>',
  'Subject: Your order has been received',
  'Date: Fri, 20 Nov 2026 12:00:00 +0000',
  'Message-ID: <bench-0001@example.test>',
  'MIME-Version: 1.0',
  'Content-Type: multipart/alternative; boundary="b_0001"',
  '',
]
