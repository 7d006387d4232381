// How often the page looks where nothing tells it of changes.
const pollMs = 5_000
// The name of the lock and of the channel by which a browser's tabs talk.
const channelName = 'posthorn-live'
// Marks the requests, so that a tab that is left open does not keep its session alive.
const looking = { Accept: 'text/html', 'Posthorn-Look': 'by-itself' }

/**
 * Updates the parts of the page that have `data-live` (and an id) when something has changed. One tab of the browser
 * listens (`/live`) and tells the others; where that is impossible, the page looks every five seconds. A part that
 * somebody is using, with the focus in a field or with something typed, waits.
 */
export function keepUpToDate(enhance: (part: ParentNode) => void): void {
  if (document.querySelector('[data-live]') === null) return
  const look = () => void refresh(enhance).catch(() => {})
  // A tab in the background does not look, so it must when somebody comes back to it.
  document.addEventListener('visibilitychange', look)
  const hasSession = document.documentElement.dataset.session !== undefined
  // Both exist only over TLS and on this machine.
  if (!hasSession || navigator.locks === undefined || !('BroadcastChannel' in window)) {
    setInterval(look, pollMs)
    return
  }
  const channel = new BroadcastChannel(channelName)
  channel.addEventListener('message', look)
  void navigator.locks.request(channelName, () => lead(channel, look))
}

/** Leads until this tab is closed; then another one gets the lock. */
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
  // The lock is held until this promise ends, and it never does: closing the tab frees the lock.
  return new Promise(() => {})
}

/** Asks for this page again and replaces the parts that have changed. */
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
    // People who work by keys must not lose their place.
    const hadFocus = part.contains(document.activeElement)
    const same = hadFocus ? sameAs(document.activeElement) : undefined
    part.replaceChildren(...other.childNodes)
    part.dataset.shown = shown
    enhance(part)
    if (same) [...part.querySelectorAll<HTMLElement>(focusable)].find(same)?.focus()
    if (hadFocus && !part.contains(document.activeElement)) {
      // Their element is gone: they go on from the part, not from the top of the page. The part itself has no box to
      // focus.
      const first = [...part.children].find((one) => one instanceof HTMLElement)
      if (first !== undefined) first.tabIndex = -1
      first?.focus()
    }
  }
}

// Elements that may have the focus while nobody types.
const focusable = 'a[href], button, summary'

/** Finds an element again: a link by its address, a button by its text. */
function sameAs(focused: Element | null): ((other: HTMLElement) => boolean) | undefined {
  const [href, says] = [focused?.getAttribute('href'), focused?.textContent?.trim()]
  if (href) return (other) => other.getAttribute('href') === href
  return (other) => other.tagName === focused?.tagName && other.textContent?.trim() === says
}

/**
 * Whether somebody is at work in a part: a field has the focus, a field has unsent changes, or a button is being
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
