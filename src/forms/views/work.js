// What a browser does before it sends in a careful form: it looks for a number with which the SHA-256 of stamp, address
// and number begins with enough zero bits (`forms/work.ts`). Without script the form is sent in as it is, and waits its
// turn. The hash is computed here because pages without TLS have no `crypto.subtle`.
const isPrime = (n) => {
  for (let by = 2; by * by <= n; by++) if (n % by === 0) return false
  return true
}
const fraction = (root) => ((root - Math.floor(root)) * 2 ** 32) | 0
const primes = []
for (let n = 2; primes.length < 64; n++) if (isPrime(n)) primes.push(n)
// FIPS 180-4 §4.2.2, §5.3.3: the fractions of cube and square roots of primes.
const rounds = primes.map((prime) => fraction(Math.cbrt(prime)))
const start = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)))
const turned = (word, by) => (word >>> by) | (word << (32 - by))

function block(state, words) {
  for (let at = 16; at < 64; at++) {
    const [a, b] = [words[at - 15], words[at - 2]]
    const low = turned(a, 7) ^ turned(a, 18) ^ (a >>> 3)
    const high = turned(b, 17) ^ turned(b, 19) ^ (b >>> 10)
    words[at] = (words[at - 16] + low + words[at - 7] + high) | 0
  }
  let [a, b, c, d, e, f, g, h] = state
  for (let at = 0; at < 64; at++) {
    const big = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)
    const one = (h + big + ((e & f) ^ (~e & g)) + rounds[at] + words[at]) | 0
    const two = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))
    h = g
    g = f
    f = e
    e = (d + one) | 0
    d = c
    c = b
    b = a
    a = (one + two) | 0
  }
  const after = [a, b, c, d, e, f, g, h]
  for (let at = 0; at < 8; at++) state[at] = (state[at] + after[at]) | 0
}

// The first word of the hash: no form asks for more than 32 bits.
function firstWord(text) {
  const bytes = new TextEncoder().encode(text)
  const length = Math.ceil((bytes.length + 9) / 64) * 64
  const padded = new Uint8Array(length)
  padded.set(bytes)
  padded[bytes.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setUint32(length - 4, bytes.length * 8)
  const state = start.slice()
  const words = new Int32Array(64)
  for (let from = 0; from < length; from += 64) {
    for (let at = 0; at < 16; at++) words[at] = view.getInt32(from + at * 4)
    block(state, words)
  }
  return state[0]
}

async function workFor(text, bits) {
  for (let number = 0; ; number++) {
    if (Math.clz32(firstWord(`${text} ${number}`)) >= bits) return number
    // The page stays responsive meanwhile.
    if (number % 5000 === 4999) await new Promise((resolve) => setTimeout(resolve))
  }
}

for (const form of document.querySelectorAll('form[data-work]')) {
  let isUnderWay = false
  const status = form.querySelector('[data-working]')
  const tell = (isBusy) => {
    isUnderWay = isBusy
    form.setAttribute('aria-busy', String(isBusy))
    if (status) status.textContent = isBusy ? status.dataset.working : ''
  }
  // Whoever comes back by the browser's button may send the form again.
  window.addEventListener('pageshow', () => tell(false))
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    if (isUnderWay) return
    tell(true)
    const { stamp, email, work } = form.elements
    const text = `${stamp.value} ${email.value.trim().toLowerCase()}`
    work.value = String(await workFor(text, Number(form.dataset.work)))
    form.submit()
  })
}
