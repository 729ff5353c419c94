import { useEffect, useState } from "react";
import { Link, Outlet, useOutletContext, useParams } from "react-router";
import { load } from "./page.js";
import { Sections, useData } from "./react-views.jsx";

export function Index() {
  const data = useData();
  if (!data) return <p>Loading…</p>;
  return (
    <main>
      <h1>{data.title}</h1>
      {data.items.map((item, number) => (
        <article className="card" key={item.name}>
          <h2><Link to={`chapters/${number}`}>{item.name}</Link></h2>
          <p>{item.text}</p>
          <span className="faint">{data.hidden[number % data.hidden.length]}</span>
        </article>
      ))}
    </main>
  );
}

export function Chapters() {
  const data = useData();
  if (!data) return <p>Loading…</p>;
  return (
    <>
      <nav>{data.chapters.map((title, number) => <Link key={title} to={`${number}`}>{title} </Link>)}</nav>
      <Outlet context={data} />
    </>
  );
}

export function Chapter() {
  const { number } = useParams();
  const data = useOutletContext();
  const [chapter, setChapter] = useState(null);
  useEffect(() => { load(`/chapter?number=${number}`).then(setChapter); }, [number]);
  if (!chapter) return <p>Loading the chapter…</p>;
  return (
    <article>
      <h1>{chapter.title}</h1>
      <Sections sections={chapter.sections} />
      <aside style={{ display: "none" }}>{data.hidden.join(" ")}</aside>
    </article>
  );
}
