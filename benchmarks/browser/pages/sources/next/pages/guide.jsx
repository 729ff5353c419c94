import { useEffect, useState } from "react";

export default function Guide() {
  const [data, setData] = useState(null);
  useEffect(() => { fetch("/api/next-guide").then((response) => response.json()).then(setData); }, []);
  if (!data) return <div aria-busy="true" />;
  return (
    <main>
      <h1>{data.title}</h1>
      <p>{data.intro}</p>
      {data.sections.map((section) => <section key={section.heading}><h2>{section.heading}</h2><p>{section.text}</p></section>)}
      <div style={{ display: "none" }}>{data.hidden.join(" ")}</div>
    </main>
  );
}
