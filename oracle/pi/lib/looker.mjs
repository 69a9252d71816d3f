// node looker.mjs PACKAGE: a child that lets the client's own session manager open files, one a line of its input, and says what it holds.
// A damaged file can hang it or make it run out of memory, which its parent sees.
import { createInterface } from 'node:readline'

const { SessionManager } = await import(process.argv[2])
for await (const file of createInterface({ input: process.stdin })) process.stdout.write(`${encodeURIComponent(JSON.stringify(look(file)))}\n`)

function look(file) {
  try {
    const manager = SessionManager.open(file)
    return { messages: manager.buildSessionContext().messages, leaf: manager.getLeafId(), entries: manager.getEntries().length }
  } catch (error) {
    return { error: String(error?.message ?? error).slice(0, 200) }
  }
}
