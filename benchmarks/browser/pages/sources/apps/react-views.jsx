import { useEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { useQuery } from "@tanstack/react-query";
import { load } from "./page.js";

export function useData(part = "") {
  const [data, setData] = useState(null);
  useEffect(() => { load(part).then(setData); }, [part]);
  return data;
}

export const Sections = ({ sections }) =>
  sections.map((section) => <section key={section.heading}><h2>{section.heading}</h2><p>{section.text}</p></section>);

const Table = ({ columns, rows }) => (
  <table>
    <thead><tr>{columns.map((column) => <th key={column}>{column}</th>)}</tr></thead>
    <tbody>{rows.map((row) => <tr key={row[0]}>{row.map((cell, index) => <td key={index}>{cell}</td>)}</tr>)}</tbody>
  </table>
);

export function Article() {
  const data = useData();
  if (!data) return <p>Loading…</p>;
  return (
    <main>
      <ul className="gone">{data.hidden.map((text) => <li key={text}>{text}</li>)}</ul>
      <h1>{data.title}</h1>
      <p>{data.intro}</p>
      <Sections sections={data.sections} />
    </main>
  );
}

export function Orders() {
  const { data } = useQuery({ queryKey: ["orders"], queryFn: () => load() });
  if (!data) return <div className="skeleton">Fetching orders…</div>;
  return (
    <main>
      <h1>{data.title}</h1>
      <Table columns={data.columns} rows={data.rows} />
      <p className="unseen">{data.hidden.join(" ")}</p>
    </main>
  );
}

export function Feed() {
  const [items, setItems] = useState([]);
  const [page, setPage] = useState(0);
  const [title, setTitle] = useState("");
  const end = useRef(null);
  useEffect(() => {
    load(`/batch?number=${page}`).then((batch) => {
      setTitle(batch.title);
      setItems((before) => [...before.slice(0, page * 12), ...batch.items]);
    });
  }, [page]);
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => entry.isIntersecting && items.length && setPage(items.length / 12));
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [items.length]);
  return (
    <main>
      <h1>{title}</h1>
      {items.map((item) => <article key={item.name}><h2>{item.name}</h2><p>{item.text}</p></article>)}
      <div ref={end} style={{ height: 1 }} />
    </main>
  );
}

export function Tabs() {
  const data = useData();
  const [open, setOpen] = useState(0);
  if (!data) return null;
  return (
    <main>
      <h1>{data.title}</h1>
      <div role="tablist">
        {data.tabs.map((tab, index) => <button key={tab} role="tab" onClick={() => setOpen(index)}>{tab}</button>)}
      </div>
      {[data.panel, ...data.hidden].map((text, index) => (
        <div role="tabpanel" key={text} hidden={index !== open}><p>{text}</p></div>
      ))}
    </main>
  );
}

export function Consent() {
  const data = useData();
  const [shown, setShown] = useState(true);
  if (!data) return null;
  return (
    <main>
      <h1>{data.title}</h1>
      <p>{data.intro}</p>
      <Sections sections={data.sections} />
      {shown && createPortal(
        <div className="layer" role="dialog" aria-modal="true">
          <p>{data.layer}</p>
          <div className="collapsed">{data.hidden.join(" ")}</div>
          <button onClick={() => setShown(false)}>Accept all cookies</button>
        </div>, document.body)}
    </main>
  );
}

export function Waterfall() {
  const first = useData("/first");
  return first && <main><h1>{first.title}</h1><Second part={first.next} /></main>;
}

function Second({ part }) {
  const second = useData(part);
  return second && <><p>{second.intro}</p><Third part={second.next} /></>;
}

function Third({ part }) {
  const third = useData(part);
  return third && <><Sections sections={third.sections} /><p className="tiny">{third.hidden.join(" ")}</p></>;
}

export function Questions() {
  const data = useData();
  const [open, setOpen] = useState(0);
  if (!data) return null;
  return (
    <main>
      <h1>{data.title}</h1>
      {data.questions.map((question, index) => (
        <section key={question}>
          <h2><button onClick={() => setOpen(index)}>{question}</button></h2>
          <div className={index === open ? "" : "collapsed"}>{index ? data.hidden[index - 1] : data.answer}</div>
        </section>
      ))}
    </main>
  );
}

export function Virtual() {
  const data = useData();
  const [top, setTop] = useState(0);
  if (!data) return null;
  const lines = [...data.lines, ...data.later];
  const first = Math.floor(top / 24);
  return (
    <main>
      <h1>{data.title}</h1>
      <div className="viewport" onScroll={(event) => setTop(event.target.scrollTop)}>
        <div style={{ height: lines.length * 24 }}>
          {lines.slice(first, first + 20).map((line, index) => (
            <div key={line} style={{ position: "absolute", top: (first + index) * 24 }}>{line}</div>
          ))}
        </div>
      </div>
    </main>
  );
}
