// A session that is being damaged: its rows by name, in order, and what may be done to them.

/** Rows are records, or text or bytes as they are. */
export function page(rows) {
  const order = [...rows].map(([name, row]) => ({ name, row: structuredClone(row) }))
  const place = name => order.findIndex(entry => entry.name === name)
  const splice = (at, count, rows, name = 'more') => {
    order.splice(at, count, ...rows.map(row => ({ name, row })))
    return sheet
  }
  const change = (object, fields) => Object.assign(object, fields) && sheet
  const sheet = {
    row: name => order[place(name)].row,
    line: name => JSON.stringify(sheet.row(name)),
    copy: (name, fields) => ({ ...structuredClone(sheet.row(name)), ...fields }),
    /** The front of a line, as a crash leaves it. */
    torn: (name, share = 0.6) => sheet.line(name).slice(0, Math.floor(sheet.line(name).length * share)),
    bytes: () => Buffer.concat(order.flatMap(({ row }) => [lineOf(row), Buffer.from('\n')])),

    /** Put another row in the place of one. */
    swap: (name, row) => splice(place(name), 1, [row], name),
    drop: (...names) => names.reduce((self, name) => splice(place(name), 1, []), sheet),
    behind: (name, ...rows) => splice(place(name) + 1, 0, rows),
    inFront: (name, ...rows) => splice(place(name), 0, rows),
    end: (...rows) => splice(order.length, 0, rows),
    /** Everything behind it goes. */
    cutBehind: name => splice(place(name) + 1, order.length, []),
    change: (name, fields) => change(sheet.row(name), fields),
    say: (name, fields) => change(sheet.row(name).message, fields),
    hang: (name, under) => sheet.change(name, { parentId: sheet.row(under).id }),
    /** A result comes too late: behind `later`, under which it hangs. `next` hung under it, and `after` hangs under the result then. */
    moveResult(name, later, next, after) {
      const row = sheet.copy(name, { parentId: sheet.row(later).id })
      sheet.change(next, { parentId: sheet.row(name).parentId }).drop(name).behind(later, row)
      return after === undefined ? sheet : sheet.change(after, { parentId: row.id })
    },
  }
  return sheet
}

const lineOf = row => Buffer.isBuffer(row) ? row : Buffer.from(typeof row === 'string' ? row : JSON.stringify(row))
