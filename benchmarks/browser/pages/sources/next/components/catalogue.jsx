import { useEffect, useState } from "react";
import { useRouter } from "next/router";

export default function Catalogue() {
  const { pathname } = useRouter();
  const [data, setData] = useState(null);
  useEffect(() => { fetch(`/api/next-${pathname.slice(1)}`).then((response) => response.json()).then(setData); }, [pathname]);
  if (!data) return null;
  return (
    <main>
      <h1>{data.title}</h1>
      <ul>{data.items.map((item) => <li key={item.name}><h2>{item.name}</h2><p>{item.text}</p><b>{item.price}</b></li>)}</ul>
      <div style={{ visibility: "hidden" }}>{data.hidden.join(" ")}</div>
    </main>
  );
}
