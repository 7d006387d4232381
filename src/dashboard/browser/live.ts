// How often the page looks where nothing tells it.
const pollMs = 5_000
// The name of the lock and of the channel by which the tabs of a browser talk.
const channelName = 'posthorn-live'
// So that a tab that is left open does not keep its session alive.
const looking = { Accept: 'text/html', 'Posthorn-Look': 'by-itself' }

/**
 * Brings the parts of the page that have `data-live` (and an id) up to date when something has changed. One tab of the
 * browser listens (`/live`) and tells the others; where that cannot be, the page looks every five seconds.
 * What somebody is busy with stays: a part with the focus in a field or with something typed waits.
 */
export function keepUpToDate(enhance: (part: ParentNode) => void): void {
  if (document.querySelector('[data-live]') === null) return
  const look = () => void refresh(enhance).catch(() => {})
  // A tab in the background does not look, and so has to when somebody comes back to it.
  document.addEventListener('visibilitychange', look)
  const hasSession = document.documentElement.dataset.session !== undefined
  // Both exist over TLS and on this machine only.
  if (!hasSession || navigator.locks === undefined || !('BroadcastChannel' in window)) {
    setInterval(look, pollMs)
    return
  }
  const channel = new BroadcastChannel(channelName)
  channel.addEventListener('message', look)
  void navigator.locks.request(channelName, () => lead(channel, look))
}

/** Until this tab is closed, when another one gets the lock. */
function lead(channel: BroadcastChannel, look: () => void): Promise<never> {
  let polls: ReturnType<typeof setInterval> | undefined
  const tell = () => {
    channel.postMessage('changed')
    look()
  }
  const source = new EventSource('/live')
  source.addEventListener('changed', tell)
  source.addEventListener('open', () => clearInterval(polls))
  source.addEventListener('error', () => {
    clearInterval(polls)
    polls = setInterval(tell, pollMs)
  })
  // The lock is held for as long as this promise is open: until the tab is closed.
  return new Promise(() => {})
}

/** Asks for this page again and puts in its parts that have changed. */
async function refresh(enhance: (part: ParentNode) => void): Promise<void> {
  if (document.hidden) return
  const response = await fetch(location.href, { headers: looking })
  if (!response.ok || response.redirected) return
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html')
  for (const part of document.querySelectorAll<HTMLElement>('[data-live][id]')) {
    const other = fresh.getElementById(part.id)
    // Each document has another value for its forms (`shell/once.ts`).
    const shown = other?.innerHTML.replace(/name="posthorn-once" value="[^"]*"/g, '')
    if (other === null || shown === undefined || isBusy(part) || shown === part.dataset.shown) {
      continue
    }
    // What somebody has opened stays open.
    for (const [index, details] of part.querySelectorAll('details').entries()) {
      if (details.open) other.querySelectorAll('details')[index]?.setAttribute('open', '')
    }
    // Who moves by keys does not lose their place.
    const hadFocus = part.contains(document.activeElement)
    const same = hadFocus ? sameAs(document.activeElement) : undefined
    part.replaceChildren(...other.childNodes)
    part.dataset.shown = shown
    enhance(part)
    if (same) [...part.querySelectorAll<HTMLElement>(focusable)].find(same)?.focus()
    if (hadFocus && !part.contains(document.activeElement)) {
      // What they were at is gone: they go on from the part, and not from the top of the page. The part itself has no box.
      const first = [...part.children].find((one) => one instanceof HTMLElement)
      if (first !== undefined) first.tabIndex = -1
      first?.focus()
    }
  }
}

// What has the focus of who reads, and types nothing.
const focusable = 'a[href], button, summary'

/** What finds an element again: links by where they lead, buttons by what they say. */
function sameAs(focused: Element | null): ((other: HTMLElement) => boolean) | undefined {
  const [href, says] = [focused?.getAttribute('href'), focused?.textContent?.trim()]
  if (href) return (other) => other.getAttribute('href') === href
  return (other) => other.tagName === focused?.tagName && other.textContent?.trim() === says
}

/**
 * Whether somebody is at work in a part: a field has the focus, or has something that was not sent, or a button is being
 * pressed.
 */
function isBusy(part: HTMLElement): boolean {
  const { activeElement } = document
  if (part.contains(activeElement) && activeElement?.matches('input, select, textarea')) return true
  if (part.querySelector(`:is(${focusable}):active`) !== null) return true
  return [...part.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>('input, textarea')].some(
    (field) =>
      field.type === 'checkbox' || field.type === 'radio'
        ? (field as HTMLInputElement).checked !== (field as HTMLInputElement).defaultChecked
        : field.value !== field.defaultValue,
  )
}
